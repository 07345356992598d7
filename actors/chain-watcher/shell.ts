import type { ChainAccess, Chains } from '../../src/chains/access.js'
import type { BlockSummary } from '../../src/chains/heads.js'
import { sleep, type Timers } from '../../src/clock/timers.js'
import { type Hex, ID_PREFIX, type SubWalletId, type TxId } from '../../src/domain/ids.js'
import { isSponsored } from '../../src/domain/sponsorship.js'
import { type AccountTransaction, type BlockRef, wasGivenUp } from '../../src/domain/transaction.js'
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
import { givenUpOf, watchOf } from './watch-of.js'

interface ChainWatcherPorts {
  readonly reader: Reader
  readonly chains: Chains
  readonly tell: (envelope: Envelope) => void
  readonly announce: (head: BlockSummary) => void
  readonly log: { warn(context: object, message: string): void }
  readonly timers: Timers
}

/**
 * The most receipts requested together. Handling them takes a few milliseconds of this thread,
 * which delay sends: with 500 their p99 at full load was 102 ms, with 100 it is 93 ms.
 */
const RECEIPTS_AT_ONCE = 100
/**
 * The next request starts when these receipts have come, or after this long, because a node may be
 * far away.
 */
const NEXT_RECEIPTS_AFTER_MS = 10
/**
 * The most blocks requested together. The distance between two heads grows with every outage, and a
 * node that refused the whole range would never be asked for less.
 */
const BLOCKS_AT_ONCE = 16
/** The most records read from the store at once: a few milliseconds of this thread. */
const RECALLED_AT_ONCE = 500

export function createChainWatcherShell(
  ports: ChainWatcherPorts,
): ActorShell<WatcherState, WatcherCommand, WatcherEvent, WatcherEffect> {
  const { reader, chains, timers, log } = ports
  const userOf = walletUsersOf(reader)

  /**
   * Writes whole literals: composing one from others makes a hidden class at each step, which is
   * slow.
   */
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
    return { type: 'blocks', blocks: await unbroken(chain, numbers), nowMs: timers.now() }
  }

  /** Returns the lowest blocks up to the first that is missing: some are better than none. */
  async function unbroken(
    chain: ChainAccess,
    numbers: readonly number[],
  ): Promise<readonly BlockSummary[]> {
    const found: BlockSummary[] = []
    for (let at = 0; at < numbers.length; at += BLOCKS_AT_ONCE) {
      const asked = numbers.slice(at, at + BLOCKS_AT_ONCE)
      const reading = asked.map((number) => chain.reads.block(number))
      for (const read of await Promise.allSettled(reading)) {
        if (read.status === 'fulfilled' && read.value !== null) found.push(read.value)
        else if (read.status === 'rejected' && found.length === 0) throw read.reason
        else return found
      }
    }
    return found
  }

  async function checked(chain: ChainAccess, numbers: readonly number[]): Promise<WatcherCommand> {
    const found: BlockSummary[] = []
    for (let at = 0; at < numbers.length; at += BLOCKS_AT_ONCE) {
      const asked = numbers.slice(at, at + BLOCKS_AT_ONCE)
      const read = await Promise.all(asked.map((number) => chain.reads.block(number)))
      found.push(...read.filter((block) => block !== null))
    }
    return { type: 'checked', blocks: found, nowMs: timers.now() }
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

  /** Returns nothing when the record says that the transaction did not end there, or no longer. */
  function endedIn(block: BlockRef, id: TxId): WatchCommand[] {
    const own = reader.ifSound(() => reader.transactions.byId(id))
    const gas = reader.ifSound(() => reader.gas.transaction(id))
    const found = [
      ...(own === undefined || isSponsored(own.kind) ? [] : [watchOf(own.subWalletId, own)]),
      ...(gas === undefined ? [] : [watchOf(gas.gasWalletId, gas.tx)]),
    ]
    return found.filter(({ mined }) => mined?.blockHash === block.blockHash)
  }

  /** Null when its record says that it is not given up any longer. */
  function endedAs(id: TxId): { readonly owner: Owner; readonly tx: AccountTransaction } | null {
    const gas = reader.ifSound(() => reader.gas.transaction(id))
    const own = reader.ifSound(() => reader.transactions.byId(id))
    const found =
      gas !== undefined
        ? { owner: gas.gasWalletId, tx: gas.tx }
        : own === undefined
          ? null
          : { owner: own.subWalletId, tx: own }
    return found !== null && wasGivenUp(found.tx) ? found : null
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
      for (const { txId, height } of reader.transactions.givenUp(chainId)) {
        const ended = endedAs(txId)
        // One that was taken up again is open.
        if (ended === null || state.watched.get(txId) !== undefined) continue
        decide(state, givenUpOf(ended.owner, ended.tx, height))
      }
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

  /** Adds the present fees, which only the shell can read. */
  function withFees(update: ChainUpdate): ChainUpdate {
    if (update.type !== 'head') return update
    const quote = chains.get(update.chainId)?.fees.latest() ?? null
    const { type, chainId, blockNumber, chainNonce, finalBlock, nowMs } = update
    const [fees, gasPriceWei] = [quote?.fees ?? null, quote?.gasPriceWei ?? null]
    return { type, chainId, blockNumber, fees, gasPriceWei, chainNonce, finalBlock, nowMs }
  }
}
