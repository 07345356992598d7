import { intentTermsOf } from '../../src/contracts/router-intent.js'
import type {
  AuditedList,
  AuditType,
  NewAuditRecord,
  ScreenedAgainst,
} from '../../src/domain/audit.js'
import type { Address, SubWalletId } from '../../src/domain/ids.js'
import { isoTime } from '../../src/domain/iso-time.js'
import { policyWire } from '../../src/domain/key-policy.js'
import { formatUnits, formatUsd } from '../../src/domain/money.js'
import type { PredictedOutcome } from '../../src/domain/predicted-outcome.js'
import { isSponsored } from '../../src/domain/sponsorship.js'
import type { Valuation } from '../../src/domain/transaction.js'
import { predictFromCalldata, predictFromTerms } from '../../src/policy/predict-from-calldata.js'
import type { AllowedVerdict } from '../../src/store/allowed-entry.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import type { Effect, Event, RefusedCall } from './core/messages.js'
import { predictedOutcomeOf } from './core/predicted-outcome.js'

/** The records that a sub-wallet writes to its owner's audit trail. */

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

/**
 * The verdict without the call, which is in the transaction's record.
 * @param basis null when the predicted outcome is in the record as well
 */
export function verdictOf(
  { tx, screenedAgainst }: Pick<TransactionSigned, 'tx' | 'screenedAgainst'>,
  basis: TransactionSigned['basis'],
): AllowedVerdict {
  const { updatedAtMs: atMs, reservation, from } = tx
  const lists = listsOf(screenedAgainst)
  const predicted = predictedOutcomeOf(from, basis)
  const verdict = { atMs, reservedMicros: reservation.micros, lists }
  return predicted === null ? verdict : { ...verdict, predicted }
}

type TransactionSigned = Extract<Event, { type: 'transaction-signed' }>

export function refusalAudit(
  { userId, from, call, fault, screenedAgainst }: Extract<Effect, { type: 'refused' }>,
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
    predicted: predictedOfRefused(call, from),
  })
}

/** Null also for a call that moves only native currency, because its outline says that. */
function predictedOfRefused(refused: RefusedCall, from: Address): PredictedOutcome | null {
  const { kind, call, terms, quote, screened } = refused
  if (screened !== undefined) return null
  const worth = valuationOf(refused)?.valueMicros ?? null
  if (isSponsored(kind)) {
    // Once a sponsored call is signed, its calldata is the Router's.
    const known = terms ?? (call.data === '0x' ? null : intentTermsOf(call.data))
    return known === null ? null : predictFromTerms(known, worth)
  }
  const run = predictedOutcomeOf(from, (quote?.ok === true ? quote.basis : refused.basis) ?? null)
  if (run !== null || call.data === '0x' || worth === null) return run
  return predictFromCalldata({ operation: kind, ...call }, worth)
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

/**
 * An outline instead of the calldata, which may be 128 KiB and come again with each repetition:
 * selector and length suffice.
 */
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

/**
 * The valuation of a call that was valued before it was refused, so that it can be judged again.
 */
function worthOf(call: RefusedCall) {
  const worth = valuationOf(call)
  if (worth === null) return {}
  const { valueMicros, gasMicros, nativePrice, nativePriceDecimals } = worth
  const value = { value_usd: formatUsd(valueMicros) }
  // The service would have paid the gas.
  if (isSponsored(call.kind)) return value
  const coin = formatUnits(nativePrice, nativePriceDecimals)
  return { ...value, gas_usd: formatUsd(gasMicros), native_price_usd: coin }
}

function valuationOf({ quote, valuation }: RefusedCall): Valuation | null {
  return (quote?.ok === true ? quote.valuation : valuation) ?? null
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
