import { openPostgresJournal } from '../../src/journal/postgres-journal.js'
import { describeJournal } from '../journal/conformance.js'
import { describeSnapshots } from '../journal/snapshot-conformance.js'
import { createPostgres } from '../support/postgres-server.js'

async function open() {
  const server = await createPostgres()
  return {
    connect: () => openPostgresJournal([server.url], { warn: () => undefined }),
    close: () => server.remove(),
  }
}

describeJournal('the journal in Postgres', open)
describeSnapshots('snapshots in Postgres', open)
