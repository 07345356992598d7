import { type IssuedKey, issueKey, type Stack } from '../e2e/stack.js'
import { type Agent, newestLine, newLine, type Random } from './service-agents.js'

/** Of the cap that a line began with: what changes leave of it, at least and at most. */
const CAP_SHARE_MIN = 0.5
const CAP_SHARE_MAX = 1.2
const MICROS_PER_CENT = 10_000n

/** Creates, caps again, rotates or revokes a key. @returns what was done; null when it failed */
export async function changeKeys(
  { service, owner }: Stack,
  agent: Agent,
  random: Random,
): Promise<string | null> {
  // Drawn in any case, so that a seed's sequence does not depend on answers.
  const what = random.integer(4)
  const share = CAP_SHARE_MIN + random.integer(100) * ((CAP_SHARE_MAX - CAP_SHARE_MIN) / 100)
  const line = newestLine(agent)
  const keyId = line.keys.at(-1)?.keyId
  if (line.revoked !== 'no') {
    const { subWalletId, capUsd } = agent
    const wishes = { subWalletId, dailyUsd: String(capUsd) }
    const made = await issueKey({ service, owner }, wishes).catch(() => null)
    if (made === null) return null
    agent.lines.push(newLine(made, capUsd))
    return 'key created'
  }
  if (what < 2) {
    const cents = Math.round(agent.capUsd * share * 100)
    // What is not answered may have been done.
    const capMicros = BigInt(cents) * MICROS_PER_CENT
    if (capMicros > line.capMaxMicros) line.capMaxMicros = capMicros
    const body = { daily_limit_usd: (cents / 100).toFixed(2) }
    const patched = await owner.call('PATCH', `/keys/${keyId}`, { body }).catch(() => null)
    return patched?.status === 200 ? 'cap changed' : null
  }
  if (what === 2) {
    const rotated = await owner.post(`/keys/${keyId}/rotate`).catch(() => null)
    const { key_id: next, secret } = rotated?.json ?? {}
    if (next === undefined || secret === undefined) return null
    const key: IssuedKey = { keyId: next, secret, api: service.api(secret) }
    line.keys.push(key)
    return 'key rotated'
  }
  line.revoked = 'perhaps'
  const revoked = await owner.post(`/keys/${keyId}/revoke`).catch(() => null)
  if (revoked?.status !== 200) return null
  line.revoked = 'yes'
  return 'key revoked'
}
