import { createHash } from 'node:crypto'
import { systemTimers } from '../../dist/src/clock/timers.js'
import { JournalUnavailable } from '../../dist/src/journal/journal.js'
import { openEngine } from '../../dist/src/journal/open-engine.js'
import { packedRecord } from '../../dist/src/store/encodings/sealing.js'
import { openEnvironment } from '../../dist/src/store/environment.js'
import { openJournaledStore, PARTITION } from '../../dist/src/store/journaled-store.js'
import { putOf, removalOf } from '../../dist/src/store/rows.js'
import { encodeRows } from '../../dist/src/store/rows-encoding.js'
import { carriedRows } from '../../dist/src/store/snapshots/carried-rows.js'
import { makeSnapshot } from '../../dist/src/store/snapshots/make-snapshot.js'
import { tidy } from '../../dist/src/store/snapshots/tidy.js'

/**
 * A store with a journal, in a process that is killed. `work` commits continuously, makes snapshots
 * at the same time and trims; `look` brings the store to the end of its journal and reports its
 * contents.
 */
const [mode, directory, settings] = process.argv.slice(2)
const timers = systemTimers()
const log = { warn: () => undefined, info: () => undefined }
const MARGIN_ENTRIES = 3
const PACE = { chunkBytes: 2_000, bytesPerSecondMax: 1_000_000_000, restTimes: 1 }
/** How many commits leave rows that stay. */
const KEPT = 40

process.once('disconnect', () => process.exit(1))
const journal = await openEngine(JSON.parse(settings), log)
const environment = openEnvironment(directory, undefined, undefined, 'opened')
const { epoch: overtakes } = await journal.readHead(PARTITION)
process.send({ type: 'opens' })
const writer = await openJournaledStore({
  ...{ environment, journal, node: 'test', timers, log, overtakes },
  fatal: (error) => {
    throw error
  },
})

function contents() {
  environment.root.resetReadTxn()
  const moment = environment.root.useReadTransaction()
  const hash = createHash('sha256')
  let answers = 0
  for (const [space, key, record] of carriedRows(environment, moment)) {
    if (space === 'idempotency') answers++
    hash.update(`${space} ${JSON.stringify(key)} `).update(record.subarray(5))
  }
  moment.done()
  return { digest: hash.digest('hex'), answers }
}

async function commit(index) {
  const rows = [
    putOf('idempotency', ['lineage', String(index).padStart(8, '0')], packedRecord({ index })),
    putOf('freezes', ['user', `freeze ${index}`], packedRecord({ reason: 'r'.repeat(200) })),
  ]
  if (index >= KEPT) rows.push(removalOf('freezes', ['user', `freeze ${index - KEPT}`]))
  await writer.commit(encodeRows(rows))
  process.send({ type: 'stored', index })
}

async function snapshots() {
  const { epoch } = writer.leadership
  const options = { snapshots: journal.snapshots, partition: PARTITION, timers, environment }
  for (;;) {
    const made = await makeSnapshot({ ...options, pace: PACE })
    process.send({ type: 'made', made })
    try {
      await tidy({ ...options, journal, epoch, marginEntries: MARGIN_ENTRIES })
    } catch (error) {
      // The next round trims.
      if (!(error instanceof JournalUnavailable)) throw error
    }
  }
}

const { digest, answers } = contents()
if (mode === 'look') {
  process.send({ type: 'whole', digest, answers }, () => process.exit(0))
} else {
  await commit(answers)
  void snapshots()
  for (let index = answers + 1; ; index++) await commit(index)
}
