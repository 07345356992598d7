import { NATIVE_DECIMALS } from '../../../src/domain/chains.js'
import { gasWalletsFor } from '../../../src/domain/gas-wallets.js'
import {
  type Address,
  ENTROPY_BYTES,
  ID_PREFIX,
  type SubWalletId,
  type TxId,
  ulidBody,
} from '../../../src/domain/ids.js'
import { valueUsdMicros } from '../../../src/domain/money.js'
import { gasMaxOf } from '../../../src/domain/sponsored-gas.js'
import type { Authorization, GasJob } from '../../../src/domain/sponsorship.js'
import { toHex } from '../../account/effects/sign.js'
import type { Envelope } from '../../runtime/actor.js'
import type { Command } from '../core/messages.js'
import type { SponsoredCommand, SponsoredEffect } from '../core/sponsored-messages.js'
import type { SubWalletState } from '../core/state.js'
import type { SubWalletPorts } from '../ports.js'
import { gasWeiAtFirst } from './sponsored-account.js'

type Prepared = Extract<SponsoredCommand, { type: 'prepared-undelegate' }>

/** The size of a transaction with an authorization and no calldata. */
const UNDELEGATION_BYTES = 256

/** EIP-7702: delegating to the zero address ends a delegation. */
const NOBODY: Address = '0x0000000000000000000000000000000000000000'

/** Adds the account's state on chain, unless the decision will be negative without it. */
export async function prepareUndelegation(
  { chains, prices, log, timers }: Pick<SubWalletPorts, 'chains' | 'prices' | 'log' | 'timers'>,
  { wallet, lastSponsoredMs }: SubWalletState,
  { chainId, idleSinceMs }: Extract<SponsoredCommand, { type: 'undelegate' }>,
): Promise<Prepared> {
  const finish = (account: Prepared['account']): Prepared => ({
    ...{ type: 'prepared-undelegate', chainId, idleSinceMs, account, nowMs: timers.now() },
  })
  const chain = chains.get(chainId)
  const lastMs = lastSponsoredMs.get(chainId)
  if (chain === undefined || wallet === null || lastMs === undefined || lastMs > idleSinceMs) {
    return finish(null)
  }
  const { reads } = chain
  try {
    const [at, gasWei, native] = await Promise.all([
      reads.account(wallet.address, 0),
      gasWeiAtFirst(chain, 'undelegate', UNDELEGATION_BYTES),
      prices.price(chain.config.id, 'native'),
    ])
    if (at === null || 'unavailable' in native) return finish(null)
    const gasMicros = valueUsdMicros(gasWei, NATIVE_DECIMALS, native.value, native.decimals)
    const delegated = at.code.kind === 'delegated'
    return finish({ delegated, chainNonce: at.nonce, gasWei, gasMicros })
  } catch (error) {
    log.warn({ err: error, chainId }, 'an idle account could not be read')
    return finish(null)
  }
}

/**
 * The identity provider signs this authorization without a key's proof and without an approval
 * bound to the nonce, because it only removes a delegation. A gas wallet stores its transaction
 * before sending it, and reports its progress.
 */
export async function endDelegation(
  { coSigner, tell, timers, log }: Pick<SubWalletPorts, 'coSigner' | 'tell' | 'timers' | 'log'>,
  subWalletId: SubWalletId,
  { chainId, account, nonce, gasWei }: Extract<SponsoredEffect, { type: 'end-delegation' }>,
  self: (command: Command) => void,
): Promise<void> {
  const entropy = timers.random.bytes(ENTROPY_BYTES)
  const txId = (ID_PREFIX.tx + ulidBody(timers.now(), entropy)) as TxId
  const requestId = timers.random.bytes(16)
  const payload = { type: 'authorization', chainId, nonce, delegate: NOBODY } as const
  let authorization: Authorization | null = null
  try {
    const asked = { walletId: subWalletId, keyId: null, requestId, proofKey: null, replaces: null }
    const outcome = await coSigner.sign({ ...asked, payload })
    if (outcome.ok) authorization = authorizationOf(chainId, nonce, outcome.signature)
    else log.warn({ chainId, reason: outcome.reason }, 'a delegation could not be ended')
  } catch (error) {
    log.warn({ err: error, chainId }, 'a delegation could not be ended')
  }
  const [gasWalletId] = gasWalletsFor(chainId, subWalletId)
  if (authorization === null || gasWalletId === undefined) {
    self({ type: 'undelegation-update', txId, chainId, stage: 'refused', minedAt: null })
    return
  }
  const job: GasJob = {
    ...{ txId, subWalletId, lineageId: null, chainId, account, authorization },
    ...{ router: account, calldata: '0x', cancels: null },
    gas: { gasMax: gasMaxOf(chainId, 'undelegate'), heldWei: gasWei, l1FeeWei: 0n },
  }
  // A gas wallet that is jammed or empty refuses, and the next poll tries again.
  const command = { type: 'sponsor', job, others: 1 } as const
  const envelope: Envelope = {
    ...{ kind: 'gas-wallet', id: gasWalletId, userId: null, command, token: null },
  }
  tell(envelope)
}

function authorizationOf(chainId: number, nonce: number, signature: Uint8Array): Authorization {
  return {
    ...{ chainId, address: NOBODY, nonce, yParity: signature[64] === 1 ? 1 : 0 },
    r: toHex(signature.subarray(0, 32)),
    s: toHex(signature.subarray(32, 64)),
  }
}
