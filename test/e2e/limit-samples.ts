import { setTimeout as delay } from 'node:timers/promises'
import { parseUsd } from '../../src/domain/money.js'
import type { HttpClient } from '../support/http-client.js'

/** What a key's limits showed while something ran, micro-USD. */
export interface LimitSamples {
  readonly samples: number
  readonly highestUsed: bigint
}

const EVERY_MS = 50

/**
 * Asks for the limits again and again until `running` ends; a service that is down is passed over.
 * @throws Error when an amount is no amount, a negative one included
 */
export async function sampleLimits(
  api: HttpClient,
  running: Promise<unknown>,
): Promise<LimitSamples> {
  let over = false
  const end = () => {
    over = true
  }
  running.then(end, end)
  let samples = 0
  let highestUsed = 0n
  while (!over) {
    const answer = await api.get('/api/limits').catch(() => null)
    const used = parseUsd(String(answer?.json.daily_used_usd))
    const reserved = parseUsd(String(answer?.json.reserved_usd))
    if (used !== null && reserved !== null) {
      samples++
      if (used > highestUsed) highestUsed = used
    } else if (answer?.status === 200) throw new Error(`no limits: ${answer.text}`)
    await delay(EVERY_MS)
  }
  return { samples, highestUsed }
}
