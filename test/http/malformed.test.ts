import { afterAll, beforeAll, expect, test } from 'vitest'
import { runMalformed } from '../e2e/malformed-run.js'
import { CONSOLE_TOKEN, type Harness, startHarness, TRADE_SECRET } from './harness.js'

/** The front end alone, by each adapter; `test/e2e/malformed.test.ts` asks the whole service. */
const REQUESTS = Number(process.env.MALFORMED_REQUESTS ?? 2_000)
const SEED = Number(process.env.MALFORMED_SEED ?? 1)
const UNMETERED = { name: 'key', refillPerSecond: 1e9, burst: 1e9 }

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({
    ...{ ratePolicy: UNMETERED, failurePolicy: UNMETERED },
    // What they say of their callers is read, then.
    trustedProxies: '127.0.0.1',
  })
})
afterAll(() => harness.server.close())

test(
  'malformed requests are refused with a code, and serve nothing that hides behind them',
  async () => {
    const wrong = await runMalformed({
      port: harness.port,
      requests: REQUESTS,
      seed: SEED,
      credentials: [{ apiKey: TRADE_SECRET, consoleToken: CONSOLE_TOKEN }],
    })
    expect(wrong, `seed ${SEED}`).toEqual([])
    expect(harness.server.inFlight).toBe(0)
    expect(harness.logged).toEqual([])
  },
  60_000 + REQUESTS * 5,
)
