import { openEvidenceLog } from '../../dist/src/custody/evidence/evidence-log.js'
import { EVIDENCE_KIND } from '../../dist/src/custody/evidence/stored-evidence.js'

/**
 * Appends an entry that is too large for what its file may grow, and right behind it entries that
 * would fit. Prints what became of them.
 */
const [path] = process.argv.slice(2)
const SMALL_BYTES = 10
const ENTRY_BYTES = 3_000
const TOO_LARGE_BYTES = 8 * 1024 * 1024

const told = []
const log = openEvidenceLog(path, 0, (error) => told.push(error.name))
const append = async (bytes) => {
  const entry = { timeMs: Date.now(), kind: EVIDENCE_KIND.batch, body: Buffer.alloc(bytes, 7) }
  try {
    await log.append(entry)
    return 'written'
  } catch (error) {
    return error.name
  }
}
for (let i = 0; i < 5; i++) await append(ENTRY_BYTES)
let isOver = false
const large = append(TOO_LARGE_BYTES).finally(() => {
  isOver = true
})
// Some of them in transactions of their own, on their way before the first one is known to fail.
const behind = []
while (!isOver) {
  behind.push(append(SMALL_BYTES))
  await new Promise((resolve) => setImmediate(resolve))
}
const outcomes = {
  large: await large,
  behind: [...new Set(await Promise.all(behind))],
  later: await append(SMALL_BYTES),
}
await log.close()
console.log(JSON.stringify({ ...outcomes, told }))
