import { importStore } from '../../dist/src/cli/operator/import-store.js'
import { systemTimers } from '../../dist/src/clock/timers.js'
import { ONE_CELL } from '../../dist/src/domain/cells.js'
import { openPostgresJournal } from '../../dist/src/journal/postgres-journal.js'

/**
 * `cluster import` as a process that ends as by a power cut, before or after what it asks the journal
 * to change for the nth time. One that changes less often than that ends by itself, and says so.
 */
const [home, url, nth, when] = process.argv.slice(2)
const CHANGES = new Set(['acquire', 'append', 'trim', 'put', 'publish', 'sweep'])
/** Several chunks of a store that has little. */
const PACE = { chunkBytes: 20_000, bytesPerSecondMax: 1_000_000_000, restTimes: 0 }
const log = { error: console.error, warn: () => undefined, info: () => undefined }
let changes = 0

function ending(port) {
  return new Proxy(port, {
    get(target, name) {
      const value = target[name]
      if (name === 'snapshots') return ending(value)
      if (!CHANGES.has(name)) return value
      return async (...args) => {
        const isLast = ++changes === Number(nth)
        if (isLast && when === 'before') process.kill(process.pid, 'SIGKILL')
        const answer = await value.apply(target, args)
        if (isLast) process.kill(process.pid, 'SIGKILL')
        return answer
      }
    },
  })
}

const journal = await openPostgresJournal([url], log)
await importStore({
  ...{ home, journal: ending(journal), cell: ONE_CELL, node: 'test', timers: systemTimers(), log },
  ...{ put: () => undefined, pace: PACE },
})
await journal.close()
process.exit(0)
