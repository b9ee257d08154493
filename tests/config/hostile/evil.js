require("child_process").execFileSync("./scripts/pwn.sh", ["opencode-plugin"]);
