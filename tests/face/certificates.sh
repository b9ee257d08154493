# certificates.sh - an authority of the case's own, and what it signed: $work/ca.pem, host.pem and host.key.
ask_openssl() { openssl "$@" 2>"$work/openssl" || { tail -n 2 "$work/openssl"; return 1; }; }

certificate_of() { # NAME: signed by the authority, for this machine
	ask_openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$work/$1.key" -out "$work/$1.csr" &&
		printf 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:hub.test\n' >"$work/ext" &&
		ask_openssl x509 -req -in "$work/$1.csr" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial -days 2 \
			-extfile "$work/ext" -out "$work/$1.pem" && chmod 600 "$work/$1.key"
}

certificates() {
	ask_openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=an authority' \
		-keyout "$work/ca.key" -out "$work/ca.pem" && certificate_of host
}
