import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { ChainId } from '../../../src/domain/chains.js'
import type { SubWalletId } from '../../../src/domain/ids.js'
import { maxSwapLossOf } from '../../../src/domain/swap-bound.js'
import { fault } from '../../../src/errors/fault.js'
import type { ListVersion } from '../../../src/screening/lists/published-lists.js'
import type { Verdict } from '../../../src/screening/screener.js'
import { verdictFault } from '../../../src/screening/verdict-fault.js'
import type { CallQuote } from '../../../src/valuation/quoter.js'
import type { SponsoredQuote } from '../../../src/valuation/sponsored-quote.js'
import { basisStillGood } from '../../../src/valuation/staleness.js'
import type { Command, Effect } from '../core/messages.js'
import type { SponsoredJudgedAgain } from '../core/sponsored-messages.js'
import type { SponsoredDraft } from '../core/sponsored-state.js'
import type { Draft } from '../core/state.js'
import type { SubWalletPorts } from '../ports.js'
import { withAccount } from './sponsored-account.js'

/** Step 3 of the lifecycle: screens the addresses that would receive, spend or operate. */
export function screen(
  ports: SubWalletPorts,
  effect: Extract<Effect, { type: 'screen' }>,
  walletId: SubWalletId,
  self: (command: Command) => void,
): void {
  const { screener, timers } = ports
  const { userId, draft } = effect
  const { txId, call, basis } = draft
  const { chainId, to, data } = call
  const report = (verdict: Verdict, requoted: CallQuote | null, chainNonce?: number | null) =>
    self({
      type: 'screened',
      txId,
      refusal: verdictFault(verdict),
      screenedAgainst: versionsOf(verdict.lists),
      requoted,
      nowMs: timers.now(),
      ...(chainNonce === undefined ? {} : { chainNonce }),
    })
  const judged = (verdict: Verdict) => {
    const again = verdict.outcome === 'clean' ? quoteAgain(ports, effect) : null
    if (draft.approval !== undefined && basis === null && again !== null) {
      const nonce = chainNonceOf(ports, walletId, chainId)
      void Promise.all([again, nonce]).then(([quote, known]) => report(verdict, quote, known))
    } else if (again instanceof Promise) void again.then((quote) => report(verdict, quote))
    else report(verdict, again)
  }
  const verdict = screener.screen({
    chainId: chainId as ChainId,
    userId,
    to,
    data,
    extra: basis?.recipients,
  })
  if (verdict instanceof Promise) void verdict.then(judged)
  else judged(verdict)
}

/** Returns null while the draft's valuation still holds, which is nearly always. */
function quoteAgain(
  { chains, prices, quoter, reader }: SubWalletPorts,
  { draft, unmined, revalues }: Extract<Effect, { type: 'screen' }>,
): CallQuote | Promise<CallQuote> | null {
  const { basis, call } = draft
  const { chainId } = call
  // When no block has come for a long time this is null, and the simulation is at least as old.
  const head = chains.get(chainId)?.fees.latest()?.head.number ?? null
  if (!revalues) {
    if (basis === null) return null
    if (basisStillGood(basis, head, (token) => prices.price(chainId, token))) return null
  }
  const from = reader.wallets.byId(subWalletOf(reader, draft))?.address
  if (from === undefined) return null
  const quoted = { ...call, from }
  return quoter.quote(unmined === null ? quoted : { ...quoted, unmined: () => unmined })
}

/** Reads the nonce for a call that waited, because it may be its lane's first since a restart. */
async function chainNonceOf(
  { chains, log, reader }: SubWalletPorts,
  walletId: SubWalletId,
  chainId: number,
): Promise<number | null> {
  const chain = chains.get(chainId)
  const address = reader.wallets.byId(walletId)?.address
  if (chain === undefined || address === undefined) return null
  try {
    return await chain.reads.transactionCount(address, 'latest')
  } catch (error) {
    log.warn({ err: error, chainId }, 'the account nonce could not be read')
    return null
  }
}

function subWalletOf(reader: SubWalletPorts['reader'], { keyId }: Draft): SubWalletId {
  const id = reader.keys.byId(keyId)?.subWalletId
  if (id === undefined) throw new Error(`${keyId} is not in the store`)
  return id
}

/** Screens a sponsored call: the venue's call and every address that it names or involves. */
export function screenSponsored(
  ports: SubWalletPorts,
  draft: SponsoredDraft,
  self: (command: Command) => void,
): void {
  const { screener, reader, timers } = ports
  const { txId, chainId, keyId, account, router, terms, parties, approval } = draft
  const userId = reader.keys.byId(keyId)?.userId
  if (userId === undefined) throw new Error(`${keyId} is not in the store`)
  const report = (verdict: Verdict, judgedAgain?: SponsoredJudgedAgain) =>
    self({
      type: 'sponsored-screened',
      txId,
      refusal: verdictFault(verdict),
      screenedAgainst: versionsOf(verdict.lists),
      ...(judgedAgain === undefined ? {} : { judgedAgain }),
      nowMs: timers.now(),
    })
  const judged = (verdict: Verdict) => {
    if (approval === undefined || verdict.outcome !== 'clean') report(verdict)
    else void judgeAgain(ports, draft).then((judgedAgain) => report(verdict, judgedAgain))
  }
  const verdict = screener.screen({
    chainId: chainId as ChainId,
    userId,
    to: terms.ok ? terms.value.target : router,
    data: terms.ok ? terms.value.data : '0x',
    extra: [{ address: account, path: 'account' }, ...parties],
  })
  if (verdict instanceof Promise) void verdict.then(judged)
  else judged(verdict)
}

/** Values a call that waited at present prices and offers. */
async function judgeAgain(
  ports: SubWalletPorts,
  draft: SponsoredDraft,
): Promise<SponsoredJudgedAgain> {
  const { chainId, keyId, kind, account, router, delegate, terms, offered } = draft
  const key = ports.reader.keys.byId(keyId)
  const chain = ports.chains.get(chainId)
  const quote: SponsoredQuote =
    chain === undefined || key === undefined || !terms.ok
      ? { ok: false, fault: fault('CHAIN_NOT_SUPPORTED') }
      : await ports.replan(chain, {
          ...{ kind, account, router, terms: terms.value, offered },
          maxLossBps: maxSwapLossOf(ports.reader, key),
        })
  return withAccount(ports, { chainId, kind, account, delegate }, quote)
}

/** Verdicts share one array of lists until a list changes. */
const versionsByLists = new WeakMap<readonly ListVersion[], readonly ScreenedAgainst[]>()

export function versionsOf(lists: readonly ListVersion[]): readonly ScreenedAgainst[] {
  const known = versionsByLists.get(lists)
  if (known !== undefined) return known
  const made = lists.map(({ list, version, checkedAtMs }) => ({ list, version, checkedAtMs }))
  versionsByLists.set(lists, made)
  return made
}
