#!/bin/bash
# What the journal's first server of compose.cluster.yaml is given once, when its data is made: a role that
# may make a schema in a database of its own, one for the standbys, and that each commit waits for one of them.
# The image of Postgres runs it against a server that nobody else reaches, and starts that again afterwards.
# As the image's own, which runs this in its shell where it may not execute it.
set -eo pipefail
SECRETS=${SECRETS:-/run/secrets}
STANDBY_PASSWORD=$(cut -d : -f 5 "$SECRETS/standby.pgpass")
JOURNAL_PASSWORD=$(cat "$SECRETS/journal.password")

# Over standard input, because every user who lists processes sees arguments.
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres <<SQL
CREATE ROLE countersign LOGIN PASSWORD '$JOURNAL_PASSWORD';
CREATE DATABASE journal OWNER countersign;
CREATE ROLE countersign_standby LOGIN REPLICATION PASSWORD '$STANDBY_PASSWORD';
-- In force from the next start on: until then nobody could follow.
ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (journal_standby, journal_standby_2)';
-- What a standby that was away finds again.
ALTER SYSTEM SET wal_keep_size = '1GB';
SQL
echo 'host replication countersign_standby 127.0.0.1/32 scram-sha-256' >> "$PGDATA/pg_hba.conf"
