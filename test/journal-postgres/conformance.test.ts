import { openPostgresJournal } from '../../src/journal/postgres-journal.js'
import { describeJournal } from '../journal/conformance.js'
import { createPostgres } from '../support/postgres-server.js'

describeJournal('the journal in Postgres', async () => {
  const server = await createPostgres()
  return {
    connect: () => openPostgresJournal([server.url], { warn: () => undefined }),
    close: () => server.remove(),
  }
})
