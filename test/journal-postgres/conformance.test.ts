import { expect, test } from 'vitest'
import { openPostgresJournal } from '../../src/journal/postgres-journal.js'
import { describeJournal } from '../journal/conformance.js'
import { drawClaim } from '../journal/races.js'
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

test('a journal that a build without snapshots made is gone on with, and keeps them from then on', async () => {
  const server = await createPostgres()
  try {
    const log = { warn: () => undefined }
    const before = await openPostgresJournal([server.url], log)
    const { epoch } = await before.acquire(0, 'one', drawClaim())
    const at = { partition: 0, epoch }
    await before.append({ ...at, seq: 1 }, Buffer.from('entry'))
    await before.close()
    server.sql('DROP TABLE countersign_journal.snapshots, countersign_journal.chunks')
    const both = await Promise.all([1, 2].map(() => openPostgresJournal([server.url], log)))
    const snapshots = both[1]?.snapshots
    await snapshots?.put({ ...at, id: 'one', index: 0 }, Buffer.from('chunk'))
    await snapshots?.publish({ ...at, id: 'one', seq: 1, chunks: 1, atMs: 1 })
    expect(await both[0]?.snapshots?.read(0, 'one', 0)).toEqual(Buffer.from('chunk'))
    for (const journal of both) await journal.close()
  } finally {
    await server.remove()
  }
})

describeSnapshots('snapshots in Postgres', open)
