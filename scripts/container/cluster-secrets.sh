#!/bin/sh
# Makes the files of compose.cluster.yaml: passwords, the journal's file, and both links with certificates
# of an authority each. As root, so that each belongs to the user that reads it; nothing is overwritten.
#
#   sh scripts/container/cluster-secrets.sh DIRECTORY      such as ./install/cluster
#
# DIRECTORY/authorities has the keys of both authorities: carry them away, to where the registry's root is.
set -eu
umask 077

# As the Dockerfile, and the image of Postgres, number them.
SERVICE=64101
IDENTITY=64102
POSTGRES=999
# Of compose.cluster.yaml, all on loopback.
PRIMARY=15432
STANDBY=15433
STANDBY_2=15434
LINK=7443
NODE_1=7444
NODE_2=7445
DAYS=365

[ $# -eq 1 ] || { echo "usage: cluster-secrets.sh DIRECTORY" >&2; exit 2; }
if [ -e "$1" ]; then
  echo "$1 is there: name a directory that is not" >&2
  exit 2
fi
mkdir -p "$1/authorities"
cd "$1"

authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 3650 -subj "/CN=$1" \
    -addext keyUsage=critical,keyCertSign -keyout "authorities/$1.key" -out "$1.pem" 2>&-
}

# NAME AUTHORITY USAGE [subjectAltName]
certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days "$DAYS" -subj "/CN=$1" \
    -CA "$2.pem" -CAkey "authorities/$2.key" \
    -addext basicConstraints=critical,CA:FALSE -addext keyUsage=critical,digitalSignature \
    -addext "extendedKeyUsage=$3" ${4:+-addext "subjectAltName=$4"} \
    -keyout "$1.key" -out "$1.pem" 2>&-
}

# NAME AUTHORITY OWN-FIELDS
link() {
  cat > "$1.json" <<JSON
{
  $3,
  "certificate": "/run/secrets/$1.pem",
  "key": "/run/secrets/$1.key",
  "authority": "/run/secrets/$2.pem"
}
JSON
}

authority services
authority nodes
certificate identity services serverAuth DNS:identity,IP:127.0.0.1
certificate service-2 services clientAuth
certificate node-1 nodes serverAuth,clientAuth IP:127.0.0.1
certificate node-2 nodes serverAuth,clientAuth IP:127.0.0.1
link identity services "\"listen\": \"127.0.0.1:$LINK\""
link service-2 services "\"address\": \"127.0.0.1:$LINK\", \"server_name\": \"identity\""
link node-1 nodes "\"listen\": \"127.0.0.1:$NODE_1\""
link node-2 nodes "\"listen\": \"127.0.0.1:$NODE_2\""

password() {
  openssl rand -hex 24
}
password > postgres.password
OF_JOURNAL=$(password)
echo "$OF_JOURNAL" > journal.password
# Of whichever server takes writes.
echo "127.0.0.1:*:replication:countersign_standby:$(password)" > standby.pgpass
cat > journal.json <<JSON
{
  "postgres": [
    "postgres://countersign:$OF_JOURNAL@127.0.0.1:$PRIMARY/journal",
    "postgres://countersign:$OF_JOURNAL@127.0.0.1:$STANDBY/journal",
    "postgres://countersign:$OF_JOURNAL@127.0.0.1:$STANDBY_2/journal"
  ]
}
JSON

chmod 0644 ./*.pem
# Whoever runs the containers goes through; what is in the files is their users' alone.
chmod 0711 .
if [ "$(id -u)" -ne 0 ]; then
  echo "not root: as root, chown the files to $SERVICE (nodes, service-2, journal.json), $IDENTITY (identity) and $POSTGRES (passwords)" >&2
  exit 0
fi
chown "$SERVICE" journal.json node-1.json node-1.key node-2.json node-2.key service-2.json service-2.key
chown "$IDENTITY" identity.json identity.key
chown "$POSTGRES" postgres.password journal.password standby.pgpass
