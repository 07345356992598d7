import { setTimeout as delay } from 'node:timers/promises'
import { recoverAuthorizationAddress } from 'viem/utils'
import type { ChainView } from '../e2e/chain.js'

/**
 * What really happened on a chain: each transaction of its blocks, with the token transfers that it
 * made. Read from the node alone, so that the service is not judged by its own word.
 */
export interface ChainHistory {
  /** By hash, in lower case. */
  readonly byHash: ReadonlyMap<string, MinedTransaction>
  /** Sentences about blocks that do not follow one another; empty when the node is sound. */
  readonly wrong: readonly string[]
}

export interface MinedTransaction {
  readonly hash: string
  /** Lower case, as all addresses here. */
  readonly from: string
  readonly to: string | null
  readonly nonce: number
  readonly value: bigint
  readonly succeeded: boolean
  /** gasUsed × effectiveGasPrice, wei. */
  readonly feeWei: bigint
  /** ERC-20 transfers, in order. */
  readonly transfers: readonly TokenTransfer[]
  /** ERC-4626 redemptions. */
  readonly redemptions: readonly Redemption[]
  /** EIP-7702, in order, whether they took effect or not. */
  readonly authorizations: readonly CarriedAuthorization[]
}

interface CarriedAuthorization {
  readonly authority: string
  readonly delegate: string
  readonly nonce: number
}

interface TokenTransfer {
  readonly token: string
  readonly from: string
  readonly amount: bigint
}

interface Redemption {
  readonly vault: string
  readonly assets: bigint
  readonly shares: bigint
}

interface Block {
  readonly hash: string
  readonly parentHash: string
  readonly transactions: readonly BlockTransaction[]
}

type BlockTransaction = Readonly<Record<string, string>> & {
  readonly authorizationList?: readonly Readonly<Record<string, string>>[]
}

interface Receipt {
  readonly transactionHash: string
  readonly status: string
  readonly gasUsed: string
  readonly effectiveGasPrice: string
  readonly logs: readonly Log[]
}

interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** keccak-256 of `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** keccak-256 of `Withdraw(address,address,address,uint256,uint256)` (ERC-4626). */
const WITHDRAW = '0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db'
/** Blocks that are asked for at once. */
const AT_ONCE = 32

/** @param fromBlock the first block that counts */
export async function readHistory(view: ChainView, fromBlock: number): Promise<ChainHistory> {
  const head = Number(await view.call('eth_blockNumber', []))
  const byHash = new Map<string, MinedTransaction>()
  const wrong: string[] = []
  let parent: string | null = null
  for (let first = fromBlock; first <= head; first += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, head - first + 1) }, (_, i) => first + i)
    const read = await Promise.all(numbers.map((number) => readBlock(view, number)))
    for (const [i, { block, receipts }] of read.entries()) {
      if (parent !== null && block.parentHash !== parent) {
        wrong.push(`chain ${view.chainId}: block ${first + i} does not follow the one before`)
      }
      parent = block.hash
      const receiptOf = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]))
      for (const tx of block.transactions) {
        const receipt = receiptOf.get(tx.hash ?? '')
        if (receipt === undefined) wrong.push(`chain ${view.chainId}: ${tx.hash} has no receipt`)
        else byHash.set(lower(tx.hash), await minedOf(tx, receipt))
      }
    }
  }
  return { byHash, wrong }
}

/** A node may give a height before it has the block at hand. */
const ABSENT_MS_MAX = 20_000

async function readBlock(view: ChainView, number: number) {
  for (const sinceMs = Date.now(); ; await delay(100)) {
    const block = (await blockAt(view, number)) ?? (await parentOf(view, number + 1))
    const receipts = block === null ? null : await receiptsOf(view, number, block)
    if (block !== null && receipts !== null) return { block, receipts }
    if (Date.now() - sinceMs > ABSENT_MS_MAX) {
      const what = block === null ? 'block' : 'receipts of block'
      throw new Error(`chain ${view.chainId}: its node has no ${what} ${number}`)
    }
  }
}

async function blockAt(view: ChainView, number: number): Promise<Block | null> {
  return (await view.call('eth_getBlockByNumber', [tagOf(number), true])) as Block | null
}

/** After a reorg anvil may have lost a height, and still have the block that the next one names. */
async function parentOf(view: ChainView, number: number): Promise<Block | null> {
  const next = await blockAt(view, number)
  if (next === null) return null
  return (await view.call('eth_getBlockByHash', [next.parentHash, true])) as Block | null
}

async function receiptsOf(
  view: ChainView,
  number: number,
  { transactions }: Block,
): Promise<readonly Receipt[] | null> {
  const all = (await view.call('eth_getBlockReceipts', [tagOf(number)])) as Receipt[] | null
  if (all !== null) return all
  const each = await Promise.all(
    transactions.map(({ hash }) => view.call('eth_getTransactionReceipt', [hash])),
  )
  return each.includes(null) ? null : (each as Receipt[])
}

function tagOf(number: number): string {
  return `0x${number.toString(16)}`
}

async function minedOf(tx: BlockTransaction, receipt: Receipt): Promise<MinedTransaction> {
  const { logs } = receipt
  return {
    hash: lower(tx.hash),
    from: lower(tx.from),
    to: tx.to == null ? null : lower(tx.to),
    nonce: Number(tx.nonce),
    value: BigInt(tx.value ?? 0),
    succeeded: receipt.status === '0x1',
    feeWei: BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice),
    transfers: logs
      .filter(({ topics }) => topics[0] === TRANSFER && topics.length === 3)
      .map(({ address, topics, data }) => ({
        token: lower(address),
        from: addressOf(topics[1]),
        amount: BigInt(data),
      })),
    redemptions: logs
      .filter(({ topics }) => topics[0] === WITHDRAW)
      .map(({ address, data }) => ({
        vault: lower(address),
        assets: BigInt(data.slice(0, 66)),
        shares: BigInt(`0x${data.slice(66, 130)}`),
      })),
    authorizations: await Promise.all((tx.authorizationList ?? []).map(authorizationOf)),
  }
}

async function authorizationOf(
  it: Readonly<Record<string, string>>,
): Promise<CarriedAuthorization> {
  const { chainId, address = '', nonce, r = '', s = '', yParity } = it
  const signature = { r: wordOf(r), s: wordOf(s), yParity: Number(yParity) }
  const authority = await recoverAuthorizationAddress({
    authorization: {
      ...{ chainId: Number(chainId), nonce: Number(nonce) },
      address: address as `0x${string}`,
    },
    signature,
  })
  return { authority: lower(authority), delegate: lower(address), nonce: Number(nonce) }
}

function wordOf(quantity: string): `0x${string}` {
  return `0x${quantity.slice(2).padStart(64, '0')}`
}

function addressOf(topic: string | undefined): string {
  return `0x${lower(topic).slice(-40)}`
}

function lower(text: string | undefined): string {
  return (text ?? '').toLowerCase()
}
