import { bump, type Fees, offerCeiling } from '../../../src/chains/fees.js'
import type { KeyId, SubWalletId } from '../../../src/domain/ids.js'
import type { AccountTransaction } from '../../../src/domain/transaction.js'
import type { RefusalCode } from '../../../src/quorum-protocol/refusal.js'
import type { SignedAuthorization } from '../../../src/quorum-protocol/sign-payload.js'
import type { SignOutcome } from '../../../src/service-custody/co-signer.js'
import type { AccountCommand, ReplacePurpose } from '../core/messages.js'
import type { AccountPorts } from '../ports.js'

export interface Replaced {
  readonly walletId: SubWalletId
  readonly tx: AccountTransaction
  readonly purpose: ReplacePurpose
  /** Highest maxFeePerGas, wei, that the caps leave room for; null is any. */
  readonly feeCapWei: bigint | null
  /** Null for the service's own wallets. */
  readonly keyId: KeyId | null
  readonly authorization: SignedAuthorization | null
}

/**
 * Approvals that came to nothing here are passed over, each with fees a step higher. A lost answer
 * leaves one of them; more only pile up while the quorum keeps failing half-way.
 */
const LOST_APPROVALS_MAX = 8
/** The ledger has this call with higher fees. */
const OUTBID: RefusalCode = 'UNDERPRICED'

type Outbid = Extract<AccountCommand, { type: 'replacement-signed' | 'replacement-failed' }>

/** As in `decide-head.ts`: 21,000 gas, and room for chains that bill data as gas. */
const CANCEL_GAS = 100_000n

/**
 * Asks for the same call at the same nonce with higher fees, or for a cancellation there. No live
 * key is behind it.
 */
export function replace(
  ports: AccountPorts,
  replaced: Replaced,
  self: (command: Outbid) => void,
): void {
  const { txId } = replaced.tx
  higherBid(ports, replaced).then(
    (bid) => self(bid ?? { type: 'replacement-failed', txId }),
    (error: unknown) => {
      ports.log.warn({ err: error, txId }, 'a replacement could not be signed')
      self({ type: 'replacement-failed', txId })
    },
  )
}

async function higherBid(ports: AccountPorts, replaced: Replaced): Promise<Outbid | null> {
  const { tx } = replaced
  const chain = ports.chains.get(tx.call.chainId)
  const newest = tx.attempts.at(-1)
  if (newest === undefined || chain === undefined) return null
  // Only the thread of the chain's watcher has them at hand all the time.
  const { fees: current } = chain.fees.latest() ?? (await chain.fees.quote())
  const highestWei = BigInt(chain.config.max_fee_per_gas_ceiling_wei)
  const { purpose, feeCapWei } = replaced
  const offerWei = purpose === 'cancel' ? highestWei : offerCeiling(highestWei)
  const ceilingWei = feeCapWei !== null && feeCapWei < offerWei ? feeCapWei : offerWei
  let replaces: Uint8Array = Buffer.from(newest.intentId.slice(2), 'hex')
  let fees = bump(newest, current, ceilingWei)
  let ledgerDiffers = false
  for (let lost = 0; lost <= LOST_APPROVALS_MAX; lost++) {
    if (fees === null) return null
    const outcome = await signAt(ports, replaced, fees, replaces)
    if (outcome.ok) return signedCommand(replaced, fees, outcome, ports.timers.now())
    if (outcome.reason === 'NONCE_TAKEN' && outcome.takenBy !== undefined) {
      // An approval of ours whose answer was lost: the ledger wants it named, and outbid.
      replaces = outcome.takenBy
      ledgerDiffers = true
      continue
    }
    if (!ledgerDiffers || outcome.reason !== 'REFUSED') return null
    if (outcome.detail !== OUTBID) return insteadOfCancellation(ports, replaced)
    fees = bump(fees, current, ceilingWei)
  }
  return null
}

/**
 * What the ledger holds is no bid for this call, but a cancellation that a crash or a reorg had
 * forgotten here. Without a key only another one takes its place, and the lane would stop for good.
 */
async function insteadOfCancellation(
  ports: AccountPorts,
  replaced: Replaced,
): Promise<Outbid | null> {
  if (replaced.purpose === 'cancel') return null
  return higherBid(ports, { ...replaced, purpose: 'cancel', feeCapWei: null })
}

function signAt(
  { coSigner, timers }: AccountPorts,
  { walletId, tx, purpose, keyId, authorization }: Replaced,
  fees: Fees,
  replaces: Uint8Array,
): Promise<SignOutcome> {
  const { nonce, gasLimit, call } = purpose === 'cancel' ? cancellationOf(tx) : tx
  return coSigner.sign({
    walletId,
    keyId,
    requestId: timers.random.bytes(16),
    proofKey: null,
    replaces,
    payload: {
      type: 'transaction',
      ...call,
      nonce,
      gasLimit,
      ...fees,
      ...(authorization === null || purpose === 'cancel'
        ? {}
        : { authorizationList: [authorization] }),
    },
  })
}

function cancellationOf({ nonce, from, call }: AccountTransaction) {
  const { chainId } = call
  return {
    nonce,
    gasLimit: CANCEL_GAS,
    call: { chainId, to: from, value: 0n, data: '0x' },
  } as const
}

function signedCommand(
  { tx: { txId, nonce }, purpose }: Replaced,
  fees: Fees,
  outcome: Extract<SignOutcome, { ok: true }>,
  nowMs: number,
): Outbid | null {
  const { txHash, rawTransaction } = outcome
  if (txHash === undefined || rawTransaction === undefined) return null
  const intentId = `0x${Buffer.from(outcome.intentId).toString('hex')}` as const
  const signed = { txHash, rawTransaction, intentId, signedAtMs: nowMs }
  return { type: 'replacement-signed', txId, nonce, purpose, fees, signed, nowMs }
}
