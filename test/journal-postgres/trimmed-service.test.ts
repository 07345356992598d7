import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPostgres } from '../support/postgres-server.js'
import { describeTrimmedService } from '../support/trimmed-service.js'

describeTrimmedService(
  'Postgres',
  async (directory) => {
    const server = await createPostgres()
    const journalFile = join(directory, 'journal.json')
    writeFileSync(journalFile, JSON.stringify({ postgres: [server.url] }), { mode: 0o600 })
    return { journalFile, remove: () => server.remove() }
  },
  { kills: 4, engineBytes: 'known' },
)
