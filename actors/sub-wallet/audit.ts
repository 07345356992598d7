import type {
  AuditedList,
  AuditType,
  NewAuditRecord,
  ScreenedAgainst,
} from '../../src/domain/audit.js'
import type { SubWalletId } from '../../src/domain/ids.js'
import { isoTime } from '../../src/domain/iso-time.js'
import { policyWire } from '../../src/domain/key-policy.js'
import { formatUsd } from '../../src/domain/money.js'
import type { AllowedVerdict } from '../../src/store/allowed-entry.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import type { Effect, Event, RefusedCall } from './core/messages.js'

/** What a sub-wallet leaves in its owner's audit trail. */

export function walletAudit(event: Extract<Event, { type: 'wallet-created' }>): NewAuditRecord {
  const { wallet, requestId, byPerson } = event
  const { userId, subWalletId, createdAtMs, name, address, epoch } = wallet
  return auditEntry({
    userId,
    subWalletId,
    requestId,
    atMs: createdAtMs,
    type: 'wallet.created',
    details: { name, address, epoch, ...(byPerson === undefined ? {} : { by_person: byPerson }) },
  })
}

const KEY_CHANGES = {
  registered: 'key.created',
  patched: 'key.changed',
  rotated: 'key.rotated',
  'rotated-out': 'key.rotated_out',
  revoked: 'key.revoked',
} as const satisfies Record<Extract<Event, { type: 'key-put' }>['change'], AuditType>

export function keyAudit(event: Extract<Event, { type: 'key-put' }>): NewAuditRecord {
  const { key, change, requestId, byPerson, atMs } = event
  return auditEntry({
    userId: key.userId,
    subWalletId: key.subWalletId,
    keyId: key.keyId,
    requestId,
    atMs,
    type: KEY_CHANGES[change],
    details: {
      name: key.name,
      ...policyWire(key),
      rotated_from: key.rotatedFrom,
      ...(byPerson === undefined ? {} : { by_person: byPerson }),
    },
  })
}

/** The call itself is in the transaction's record. */
export function verdictOf(
  event: Pick<Extract<Event, { type: 'transaction-signed' }>, 'tx' | 'screenedAgainst'>,
): AllowedVerdict {
  const { tx, screenedAgainst } = event
  const { updatedAtMs: atMs, reservation } = tx
  return { atMs, reservedMicros: reservation.micros, lists: listsOf(screenedAgainst) }
}

export function refusalAudit(
  { userId, call, fault, screenedAgainst }: Extract<Effect, { type: 'refused' }>,
  subWalletId: SubWalletId,
  nowMs: number,
): NewAuditRecord {
  return auditEntry({
    userId,
    subWalletId,
    keyId: call.keyId,
    requestId: call.requestId,
    txId: call.txId,
    atMs: nowMs,
    type: 'send.refused',
    details: {
      code: fault.code,
      reasons: fault.details,
      ...outlineOf(call),
      ...worthOf(call),
    },
    lists: listsOf(screenedAgainst),
  })
}

export function unvaluedAudit(
  { tx, reason }: Extract<Effect, { type: 'unvalued' }>,
  nowMs: number,
): NewAuditRecord {
  return auditEntry({
    userId: tx.userId,
    subWalletId: tx.subWalletId,
    keyId: tx.keyId,
    requestId: tx.requestId,
    txId: tx.txId,
    atMs: nowMs,
    type: 'spend.unvalued',
    details: { reason, ...outlineOf(tx) },
  })
}

/** Calldata may be 128 KiB, and a refused caller may repeat it: its selector and length do. */
function outlineOf({ kind, call }: RefusedCall) {
  const { chainId, to, value, data } = call
  return {
    chain_id: chainId,
    kind,
    to,
    value: value.toString(),
    selector: data.slice(0, SELECTOR_CHARS),
    data_bytes: (data.length - 2) / 2,
  }
}

/** Of a call that was valued before it was refused, so that it can be judged once more. */
function worthOf({ quote, valuation }: RefusedCall) {
  const worth = quote?.ok === true ? quote.valuation : valuation
  if (worth === undefined) return {}
  const { valueMicros, gasMicros } = worth
  return { value_usd: formatUsd(valueMicros), gas_usd: formatUsd(gasMicros) }
}

const SELECTOR_CHARS = '0x12345678'.length

/** Verdicts share one array of lists until a list changes. */
const entriesOf = new WeakMap<readonly ScreenedAgainst[], readonly AuditedList[]>()

function listsOf(screenedAgainst: readonly ScreenedAgainst[]): readonly AuditedList[] {
  const known = entriesOf.get(screenedAgainst)
  if (known !== undefined) return known
  const entries = screenedAgainst.map(({ list, version, checkedAtMs }) => ({
    list,
    version,
    checked_at: isoTime(checkedAtMs),
  }))
  entriesOf.set(screenedAgainst, entries)
  return entries
}
