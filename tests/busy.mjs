// busy.mjs - limits of time on a machine that others use, too; the same as within() of tests/servers/lib.sh.

// How much longer a loop takes here now than its own processor time, and half as much again.
function busy() {
	const cpu = process.cpuUsage(), began = performance.now();
	for (let i = 0, x = 0; i < 3e8; i++) x += i;
	const { user, system } = process.cpuUsage(cpu);
	return 1.5 * (performance.now() - began) / ((user + system) / 1000);
}

// Is a time of `took` ms not above `most`, which is that of an idle machine?
export const within = (took, most) => took <= most || took <= most * busy();
