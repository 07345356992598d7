#!/bin/sh
# A standby of the journal in compose.cluster.yaml: a copy of the first server that follows it. A copy that
# broke off is made again; one that is there stays, promoted or not.
set -eu
SECRETS=${SECRETS:-/run/secrets}
COPY="$PGDATA/copy"

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  find "$PGDATA" -mindepth 1 -delete
  until pg_basebackup --pgdata "$COPY" --write-recovery-conf --wal-method stream --checkpoint fast \
    --dbname "host=127.0.0.1 port=$PRIMARY_PORT user=countersign_standby passfile=$SECRETS/standby.pgpass application_name=$STANDBY_NAME"; do
    echo 'the journal does not answer yet: it is asked again' >&2
    rm -rf "$COPY"
    sleep 2
  done
  # The file that says that a copy is whole comes last.
  mv "$COPY/PG_VERSION" "$PGDATA/.PG_VERSION"
  find "$COPY" -mindepth 1 -maxdepth 1 -exec mv -f {} "$PGDATA/" \;
  rmdir "$COPY"
  chmod 0700 "$PGDATA"
  mv "$PGDATA/.PG_VERSION" "$PGDATA/PG_VERSION"
fi
exec "$@"
