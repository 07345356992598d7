/**
 * Commits to a store over and over in one of the ways that lmdb-js has, in a process of its own, and
 * looks after each commit whether those before it are there. Told anything, it ends with what it saw.
 *
 *   node fixtures-gated-writer.mjs <path> <way>
 */
import { ABORT } from 'lmdb'
import { openLmdb } from '../../dist/src/disk/lmdb-file.js'

const [path, way] = process.argv.slice(2)
const root = openLmdb({
  path,
  overlappingSync: false,
  maxDbs: 4,
  eventTurnBatching: way !== 'puts',
})
const space = root.openDB({ name: 'a', encoding: 'binary' })
const value = Buffer.alloc(300, 1)
/** Of commits under way at once, where a way has several. */
const AT_ONCE = 16
/** Commits that are looked for again. */
const LOOKED_BACK = 8

const ways = {
  batch: (n) => root.batch(() => void space.put(n, value)),
  transaction: (n) => root.transaction(() => void space.put(n, value)),
  child: (n) => root.childTransaction(() => void space.put(n, value)),
  sync: (n) => root.transactionSync(() => void space.put(n, value)),
  aborted(n) {
    root.transactionSync(() => {
      void space.put(-1, value)
      return ABORT
    })
    root.transactionSync(() => void space.put(n, value))
  },
  put: (n) => space.put(n, value),
  puts: (n) => space.put(n, value),
}

let committed = 0
let lost = 0
let isOver = false
const mine = []
process.stdin.once('data', () => {
  isOver = true
})

function look() {
  root.resetReadTxn()
  for (let n = Math.max(0, committed - LOOKED_BACK); n < committed; n++) {
    if (space.get(n) === undefined) lost++
  }
}

/** As many as there are at once follow one another without a moment in which none is under way. */
async function chain(first, step) {
  for (let n = first; !isOver; n += step) {
    await ways[way](n)
    mine.push(n)
  }
}

if (way === 'puts') {
  process.stdout.write('began ')
  await Promise.all(Array.from({ length: AT_ONCE }, (_, first) => chain(first, AT_ONCE)))
  root.resetReadTxn()
  committed = mine.length
  lost = mine.filter((n) => space.get(n) === undefined).length
} else {
  while (!isOver) {
    await ways[way](committed)
    committed++
    look()
    if (committed === 1) process.stdout.write('began ')
    // A way that never waits would hear nothing.
    if (way === 'sync' || way === 'aborted') await new Promise((resolve) => setImmediate(resolve))
  }
}
await root.close()
process.stdout.write(JSON.stringify({ committed, lost }))
process.exit(0)
