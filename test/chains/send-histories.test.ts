import { test } from 'vitest'
import { SendHistory } from './send-history.js'

/** Some thousands in the suite; more by SEND_HISTORIES, as `npm run test:long -- sends` has it. */
const HISTORIES = Number(process.env.SEND_HISTORIES ?? 2_000)
const FIRST_SEED = Number(process.env.SEND_SEED ?? 1)

test('whatever endpoints do, no payment lands uncounted or twice, and the lane goes on', async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
    try {
      await SendHistory.play(seed)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new Error(`SEND_SEED=${seed}: ${why}`, { cause: error })
    }
  }
}, 3_600_000)
