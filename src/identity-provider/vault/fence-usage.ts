import type { ReadEvidence } from '../../custody/evidence/read-evidence.js'
import { PER_SECONDS_MAX } from '../../policy/bounds.js'
import { NO_POLICY_LEDGER, type PolicyLedger } from '../../policy/policy-ledger.js'
import { hasBit } from '../../quorum-protocol/batch.js'
import { viewOf } from '../../quorum-protocol/bytes.js'
import { decodeIntent, type Intent, intentId, usesGrant } from '../../quorum-protocol/intent.js'
import { type DecodedPayload, decodePayload } from '../../quorum-protocol/payload.js'
import { ancestorsOf } from './ancestors.js'
import { pathOf, policiesOf } from './granted.js'
import { countApproved } from './judge-policy.js'
import type { LedgerStore } from './ledger-store.js'
import { entryOf } from './nonce-ledger.js'

interface Approved {
  readonly atMs: number
  readonly intent: Intent
  readonly payload: DecodedPayload
}

/**
 * Counts again, from complete logs, what policies count: a restored ledger does not know which
 * calls its counts include. It uses the policies in the ledger now.
 * @param logs logs whose approvals were found genuine
 */
export async function replayUsage(
  ledger: LedgerStore,
  logs: readonly ReadEvidence[],
  nowMs: number,
): Promise<void> {
  const usages = new Map<string, PolicyLedger>()
  for (const { atMs, intent, payload } of approvedIn(logs, nowMs)) {
    const key = ledger.key(intent.keyId)
    const grant = key === null ? null : ledger.grant(key.grantId)
    if (key === null || grant === null) continue
    const usage = (grantId: Uint8Array) => usages.get(hex(grantId)) ?? NO_POLICY_LEDGER
    const own = policiesOf({ key, grant })
    for (const bound of pathOf(key.grantId, own, ancestorsOf(ledger, grant), { usage })) {
      const after = countApproved(bound.policies, payload, bound.usage, atMs)
      if (after !== null) usages.set(hex(bound.grantId), after)
    }
  }
  await ledger.commit((writer) => {
    for (const [name, usage] of usages) writer.putUsage(Buffer.from(name, 'hex'), usage)
  }).flushed
}

/**
 * Returns each call once, oldest first, at the time of its first approval and at the highest fee that was
 * approved for it, no matter how many logs have it.
 */
function approvedIn(logs: readonly ReadEvidence[], nowMs: number): Approved[] {
  const sinceMs = nowMs - PER_SECONDS_MAX * 1_000
  const found = new Map<string, Approved>()
  const highest = new Map<string, DecodedPayload>()
  for (const { timeMs, value } of logs.flatMap(({ batches }) => batches)) {
    if (timeMs < sinceMs) continue
    value.intents.forEach((encoded, position) => {
      if (!hasBit(value.bitmap, position)) return
      const intent = decodeIntent(encoded)
      const payload = decodePayload(intent.type, intent.payload)
      const name = callName(intentId(encoded), intent, payload)
      // Fees are raised without a key.
      if (feeOf(payload) >= feeOf(highest.get(name))) highest.set(name, payload)
      if (!usesGrant(intent)) return
      const before = found.get(name)
      if (before === undefined || timeMs < before.atMs) {
        found.set(name, { atMs: timeMs, intent, payload })
      }
    })
  }
  return [...found]
    .map(([name, first]) => ({ ...first, payload: highest.get(name) ?? first.payload }))
    .sort((a, b) => a.atMs - b.atMs)
}

function feeOf(payload: DecodedPayload | undefined): bigint {
  return payload?.kind === 'transaction' ? payload.maxFeePerGasWei : 0n
}

function callName(id: Uint8Array, intent: Intent, payload: DecodedPayload): string {
  if (payload.kind !== 'transaction') return hex(id)
  const { bodyHash } = entryOf(id, payload, intent.payload, null)
  return `${hex(intent.walletId)} ${payload.chainId} ${payload.nonce} ${hex(bodyHash)}`
}

function hex(bytes: Uint8Array): string {
  return viewOf(bytes).toString('hex')
}
