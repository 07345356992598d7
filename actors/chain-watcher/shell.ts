import type { ChainAccess, Chains } from '../../src/chains/access.js'
import type { BlockSummary } from '../../src/chains/heads.js'
import { sleep, type Timers } from '../../src/clock/timers.js'
import { type Hex, ID_PREFIX, type SubWalletId, type TxId } from '../../src/domain/ids.js'
import { isSponsored } from '../../src/domain/sponsorship.js'
import type { AccountTransaction, BlockRef } from '../../src/domain/transaction.js'
import type { Reader } from '../../src/store/reader.js'
import { walletUsersOf } from '../../src/store/wallet-users.js'
import type { ActorShell, Envelope } from '../runtime/actor.js'
import { decide } from './core/decide.js'
import type {
  ChainUpdate,
  Owner,
  WatchCommand,
  WatcherCommand,
  WatcherEffect,
  WatcherEvent,
} from './core/messages.js'
import { emptyWatcher, type WatcherState } from './core/state.js'
import { packer } from './packer.js'
import { watchOf } from './watch-of.js'

export interface ChainWatcherPorts {
  readonly reader: Reader
  readonly chains: Chains
  readonly tell: (envelope: Envelope) => void
  readonly announce: (head: BlockSummary) => void
  readonly log: { warn(context: object, message: string): void }
  readonly timers: Timers
}

/**
 * Receipts that are asked for together. What they tell is a few milliseconds of this thread, which
 * sends wait behind: with 500 their p99 at full load was 102 ms, with 100 it is 93.
 */
const RECEIPTS_AT_ONCE = 100
/** The next are asked for when these have come, or after this long: a node may be far away. */
const NEXT_RECEIPTS_AFTER_MS = 10
/** Read from the store in one go: a few milliseconds of this thread. */
const RECALLED_AT_ONCE = 500

export function createChainWatcherShell(
  ports: ChainWatcherPorts,
): ActorShell<WatcherState, WatcherCommand, WatcherEvent, WatcherEffect> {
  const { reader, chains, timers, log } = ports
  const userOf = walletUsersOf(reader)

  /** Whole literals: to put one together of others makes a hidden class at each, which is slow. */
  function envelopeTo(owner: Owner, command: ChainUpdate): Envelope {
    if (!owner.startsWith(ID_PREFIX.subWallet)) {
      return { kind: 'gas-wallet', id: owner, userId: null, command, token: null }
    }
    const userId = userOf(owner as SubWalletId)
    return { kind: 'sub-wallet', id: owner, userId, command, token: null }
  }

  function access(id: string): ChainAccess {
    const chain = chains.get(Number(id))
    if (chain === undefined) throw new Error(`chain ${id} is not configured`)
    return chain
  }

  async function latest(chain: ChainAccess): Promise<WatcherCommand> {
    const block = await chain.reads.block('latest')
    return { type: 'latest', block, nowMs: timers.now() }
  }

  async function blocks(chain: ChainAccess, from: number, to: number): Promise<WatcherCommand> {
    const numbers = Array.from({ length: to - from + 1 }, (_, i) => from + i)
    const found = await Promise.all(numbers.map((number) => chain.reads.block(number)))
    const gap = found.indexOf(null)
    const whole = gap < 0 ? found : found.slice(0, gap)
    return {
      type: 'blocks',
      blocks: whole.filter((block) => block !== null),
      nowMs: timers.now(),
    }
  }

  async function checked(chain: ChainAccess, numbers: readonly number[]): Promise<WatcherCommand> {
    const found = await Promise.all(numbers.map((number) => chain.reads.block(number)))
    return { type: 'checked', blocks: found.filter((block) => block !== null), nowMs: timers.now() }
  }

  async function recall(
    chainId: number,
    block: BlockRef,
    self: (command: WatcherCommand) => void,
  ): Promise<void> {
    const ids = reader.fresh().transactions.settledIn(chainId, block)
    log.warn(
      { chainId, ...block, transactions: ids.length },
      'a reorg took back a block in which transactions had ended before the start',
    )
    for (let at = 0; at < ids.length; at += RECALLED_AT_ONCE) {
      const transactions = ids.slice(at, at + RECALLED_AT_ONCE).flatMap((id) => endedIn(block, id))
      self({ type: 'recalled', block, transactions, nowMs: timers.now() })
      await new Promise<void>(timers.soon)
    }
  }

  /** None when its record says that it did not end there, or no longer. */
  function endedIn(block: BlockRef, id: TxId): WatchCommand[] {
    const own = reader.ifSound(() => reader.transactions.byId(id))
    const gas = reader.ifSound(() => reader.gas.transaction(id))
    const found = [
      ...(own === undefined || isSponsored(own.kind) ? [] : [watchOf(own.subWalletId, own)]),
      ...(gas === undefined ? [] : [watchOf(gas.gasWalletId, gas.tx)]),
    ]
    return found.filter(({ mined }) => mined?.blockHash === block.blockHash)
  }

  async function receipts(
    chain: ChainAccess,
    hashes: readonly Hex[],
    self: (command: WatcherCommand) => void,
  ): Promise<void> {
    async function ask(asked: readonly Hex[]): Promise<void> {
      const answers = await chain.reads.receipts(asked)
      const usable = answers.filter((answer) => answer !== undefined)
      const nowMs = timers.now()
      if (usable.length === answers.length) {
        self({ type: 'receipts', asked, receipts: usable, nowMs })
        return
      }
      const unusable = asked.filter((_, i) => answers[i] === undefined)
      log.warn({ chainId: chain.config.id, hashes: unusable }, 'receipts could not be read')
      const rest = asked.filter((_, i) => answers[i] !== undefined)
      self({ type: 'receipts', asked: rest, receipts: usable, nowMs })
    }

    const asking: Promise<void>[] = []
    for (let at = 0; at < hashes.length; at += RECEIPTS_AT_ONCE) {
      const came = ask(hashes.slice(at, at + RECEIPTS_AT_ONCE))
      asking.push(came)
      await Promise.race([came, sleep(timers, NEXT_RECEIPTS_AFTER_MS)])
    }
    await Promise.all(asking)
  }

  async function nonces(
    chain: ChainAccess,
    accounts: Extract<WatcherEffect, { type: 'fetch-nonces' }>['accounts'],
  ): Promise<WatcherCommand> {
    const read = await Promise.all(
      accounts.map(async ({ owner, address }) => ({
        owner,
        nonce: await chain.reads.transactionCount(address, 'latest'),
      })),
    )
    return { type: 'nonces', nonces: read, nowMs: timers.now() }
  }

  return {
    kind: 'chain-watcher',
    decide,
    load(id) {
      const chain = access(id)
      const { id: chainId, confirmations, block_time_ms: blockTimeMs } = chain.config
      const state = emptyWatcher(chainId, confirmations, blockTimeMs, packer)
      const watch = (owner: Owner, tx: AccountTransaction) => decide(state, watchOf(owner, tx))
      for (const tx of reader.fresh().transactions.openOfChain(chainId)) watch(tx.subWalletId, tx)
      for (const { gasWalletId, chainId: of } of reader.gas.wallets()) {
        if (of !== chainId) continue
        for (const { tx } of reader.gas.soundOpen(gasWalletId)) watch(gasWalletId, tx)
      }
      for (const block of reader.transactions.settledBlocks(chainId))
        state.watched.noteEarlier(block)
      return state
    },
    record(writer, _state, events) {
      for (const { chainId, below } of events) writer.removeSettlements(chainId, below)
    },
    run(id, effect, self) {
      const chain = access(id)
      const failed = (error: unknown) =>
        log.warn({ err: error, chainId: chain.config.id }, `${effect.type} failed`)
      switch (effect.type) {
        case 'poll':
          timers.at(timers.now() + effect.afterMs, () => {
            latest(chain).then(self, (error: unknown) => {
              failed(error)
              self({ type: 'latest', block: null, nowMs: timers.now() })
            })
          })
          break
        case 'fetch-blocks':
          blocks(chain, effect.from, effect.to).then(self, (error: unknown) => {
            failed(error)
            self({ type: 'blocks', blocks: [], nowMs: timers.now() })
          })
          break
        case 'check-blocks':
          checked(chain, effect.numbers).then(self, (error: unknown) => {
            failed(error)
            self({ type: 'checked', blocks: [], nowMs: timers.now() })
          })
          break
        case 'recall':
          recall(chain.config.id, effect.block, self).catch(failed)
          break
        case 'fetch-receipts':
          receipts(chain, effect.hashes, self).catch(failed)
          break
        case 'fetch-nonces':
          nonces(chain, effect.accounts).then(self, failed)
          break
        case 'announce':
          chain.fees.onHead(effect.head)
          ports.announce(effect.head)
          break
        case 'tell':
          ports.tell(envelopeTo(effect.owner, withFees(effect.command)))
          break
      }
    },
    // A watcher lives as long as its thread.
    idle: () => false,
  }

  /** Adds what only the shell can read: fees of this moment. */
  function withFees(update: ChainUpdate): ChainUpdate {
    if (update.type !== 'head') return update
    const quote = chains.get(update.chainId)?.fees.latest() ?? null
    const { type, chainId, blockNumber, chainNonce, finalBlock, nowMs } = update
    const [fees, gasPriceWei] = [quote?.fees ?? null, quote?.gasPriceWei ?? null]
    return { type, chainId, blockNumber, fees, gasPriceWei, chainNonce, finalBlock, nowMs }
  }
}
