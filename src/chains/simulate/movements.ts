import { getAddress } from 'viem/utils'
import { uintAt } from '../../contracts/abi-words.js'
import type { Address, Hex } from '../../domain/ids.js'
import type { ReceiptLog } from '../receipts.js'
import type { SimulatedApproval, SimulatedTransfer, Simulation } from './simulation.js'

/** Collects movements and allowances from logs, within bounds. */
export interface Movements {
  touch(address: string): void
  native(from: string, to: string, amount: bigint): void
  log(log: ReceiptLog): void
  /** Everything that was collected. Call it once, at the end. */
  finish(): Pick<Simulation, 'transfers' | 'approvals' | 'touched' | 'truncated'>
}

const MOVEMENTS_MAX = 1_024
const TOUCHED_MAX = 2_048
/** The most token ids of one ERC-1155 batch. */
const BATCH_ITEMS_MAX = 256

/** The pseudo-token under which `eth_simulateV1` reports native transfers. */
const NATIVE_LOG_ADDRESS = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
/**
 * EIP-7708 logs real native transfers from this address; counting them again would double a spend.
 */
const EIP7708_LOG_ADDRESS = '0xfffffffffffffffffffffffffffffffffffffffe'
const ZERO: Address = '0x0000000000000000000000000000000000000000'

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'
/** ERC-6909 `Transfer(caller, sender, receiver, id, amount)`: sender, receiver and id are topics. */
const TRANSFER_6909 = '0x1b3d7edb2e9c0b0e7c525b20aaaef0f5940d2ed71663c7d39266ecafac728859'
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'
const APPROVAL_FOR_ALL = '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31'
/** Permit2 `Approval(address,address,address,uint160,uint48)` and `Permit(…,uint160,uint48,uint48)`. */
const PERMIT2_APPROVAL = '0xda9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b'
const PERMIT2_PERMIT = '0xc6a377bfc4eb120024a8ac08eef205be16b817020812c73223e81d1bdb9708ec'
/** WETH9 mints and burns only with these; later wrapped tokens also log a Transfer. */
const WETH_DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'
const WETH_WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'

/**
 * @param wrappedNative the chain's wrapped native token, whose mints and burns count as transfers
 * @param movementsMax the most transfers, and allowances, that are kept
 */
export function createMovements(
  wrappedNative: Address,
  movementsMax: number = MOVEMENTS_MAX,
): Movements {
  const wrapped = wrappedNative.toLowerCase()
  const transfers: SimulatedTransfer[] = []
  const approvals: SimulatedApproval[] = []
  const wraps: SimulatedTransfer[] = []
  const seen = new Set<string>()
  let truncated = false

  function touch(address: string): void {
    if (seen.size < TOUCHED_MAX) seen.add(address.toLowerCase())
    else if (!seen.has(address.toLowerCase())) truncated = true
  }

  function transfer(entry: SimulatedTransfer): void {
    if (transfers.length >= movementsMax) {
      truncated = true
      return
    }
    transfers.push(entry)
    touch(entry.from)
    touch(entry.to)
  }

  function approval(entry: SimulatedApproval): void {
    if (approvals.length < movementsMax) approvals.push(entry)
    else truncated = true
  }

  function native(from: string, to: string, amount: bigint): void {
    if (amount > 0n) {
      transfer({ token: null, from: getAddress(from), to: getAddress(to), amount, kind: 'native' })
    }
  }

  function plainTransfer(log: ReceiptLog, lowerCase: string): void {
    const [, from, to, id] = log.topics
    if (from === undefined || to === undefined) return
    if (lowerCase === NATIVE_LOG_ADDRESS) {
      native(partyOf(from), partyOf(to), uintAt(log.data, 0) ?? 0n)
      return
    }
    const parties = { token: getAddress(log.address), from: partyOf(from), to: partyOf(to) }
    if (id !== undefined) {
      transfer({ ...parties, amount: 1n, kind: 'erc721', tokenId: BigInt(id) })
      return
    }
    const amount = uintAt(log.data, 0)
    if (amount !== null) transfer({ ...parties, amount, kind: 'erc20' })
  }

  function itemTransfers(log: ReceiptLog): void {
    const [topic, , from, to] = log.topics
    if (from === undefined || to === undefined) return
    const items = topic === TRANSFER_SINGLE ? singleItem(log.data) : batchItems(log.data)
    if (items === null) {
      truncated = true
      return
    }
    const token = getAddress(log.address)
    for (const { tokenId, amount } of items) {
      transfer({ token, from: partyOf(from), to: partyOf(to), amount, kind: 'erc1155', tokenId })
    }
  }

  function plainApproval(log: ReceiptLog): void {
    const [, owner, spender, id] = log.topics
    if (owner === undefined || spender === undefined) return
    const parties = {
      token: getAddress(log.address),
      owner: partyOf(owner),
      spender: partyOf(spender),
    }
    if (id !== undefined) {
      // Approving the zero address is how ERC-721 removes an approval.
      const amount = BigInt(spender) === 0n ? 0n : 1n
      approval({ ...parties, amount, kind: 'erc721' })
      return
    }
    const amount = uintAt(log.data, 0)
    if (amount !== null) approval({ ...parties, amount, kind: 'erc20' })
  }

  function log(entry: ReceiptLog): void {
    const lowerCase = entry.address.toLowerCase()
    if (lowerCase === EIP7708_LOG_ADDRESS) return
    if (lowerCase !== NATIVE_LOG_ADDRESS) touch(lowerCase)
    const [topic, first, second, third] = entry.topics
    switch (topic) {
      case TRANSFER:
        plainTransfer(entry, lowerCase)
        return
      case TRANSFER_SINGLE:
      case TRANSFER_BATCH:
        itemTransfers(entry)
        return
      case TRANSFER_6909: {
        const amount = uintAt(entry.data, 1)
        if (first === undefined || second === undefined || third === undefined) return
        if (amount === null) return
        const token = getAddress(entry.address)
        const parties = { from: partyOf(first), to: partyOf(second) }
        transfer({ token, ...parties, amount, kind: 'erc1155', tokenId: BigInt(third) })
        return
      }
      case APPROVAL:
        plainApproval(entry)
        return
      case APPROVAL_FOR_ALL: {
        const approved = uintAt(entry.data, 0)
        if (first === undefined || second === undefined || approved === null) return
        approval({
          token: getAddress(entry.address),
          owner: partyOf(first),
          spender: partyOf(second),
          amount: approved === 0n ? 0n : 'all',
          kind: 'collection',
        })
        return
      }
      case PERMIT2_APPROVAL:
      case PERMIT2_PERMIT: {
        const amount = uintAt(entry.data, 0)
        if (first === undefined || second === undefined || third === undefined) return
        if (amount === null) return
        approval({
          token: partyOf(second),
          owner: partyOf(first),
          spender: partyOf(third),
          amount,
          kind: 'permit2',
        })
        return
      }
      case WETH_DEPOSIT:
      case WETH_WITHDRAWAL: {
        const amount = uintAt(entry.data, 0)
        if (lowerCase !== wrapped || first === undefined || amount === null) return
        const holder = partyOf(first)
        const [from, to] = topic === WETH_DEPOSIT ? [ZERO, holder] : [holder, ZERO]
        if (wraps.length >= movementsMax) truncated = true
        else wraps.push({ token: getAddress(entry.address), from, to, amount, kind: 'erc20' })
        return
      }
      default:
    }
  }

  function addWrapsWithoutTransfer(): void {
    const minted = new Map<string, number>()
    for (const { token, from, to, amount } of transfers) {
      if (token?.toLowerCase() !== wrapped || (from !== ZERO && to !== ZERO)) continue
      const key = `${from}${to}${amount}`
      minted.set(key, (minted.get(key) ?? 0) + 1)
    }
    for (const wrap of wraps) {
      const key = `${wrap.from}${wrap.to}${wrap.amount}`
      const matches = minted.get(key) ?? 0
      if (matches > 0) minted.set(key, matches - 1)
      else transfer(wrap)
    }
  }

  return {
    touch,
    native,
    log,
    finish() {
      addWrapsWithoutTransfer()
      const touched = [...seen].map((address) => getAddress(address))
      return { transfers, approvals, touched, truncated }
    },
  }
}

/** The address in the low 20 bytes of a topic. */
function partyOf(topic: string): Address {
  return getAddress(`0x${topic.slice(-40)}`)
}

interface Item {
  readonly tokenId: bigint
  readonly amount: bigint
}

function singleItem(data: Hex): Item[] | null {
  const tokenId = uintAt(data, 0)
  const amount = uintAt(data, 1)
  return tokenId === null || amount === null ? null : [{ tokenId, amount }]
}

/** `(uint256[] ids, uint256[] values)`; null when it does not decode or is too long. */
function batchItems(data: Hex): Item[] | null {
  const ids = arrayAt(data, 0)
  const amounts = arrayAt(data, 1)
  if (ids === null || amounts === null || ids.length !== amounts.length) return null
  return ids.map((tokenId, i) => ({ tokenId, amount: amounts[i] ?? 0n }))
}

function arrayAt(data: Hex, head: number): bigint[] | null {
  const offset = uintAt(data, head)
  if (offset === null || offset % 32n !== 0n || offset > BigInt(data.length)) return null
  const start = Number(offset / 32n)
  const length = uintAt(data, start)
  if (length === null || length > BigInt(BATCH_ITEMS_MAX)) return null
  const values: bigint[] = []
  for (let i = 0; i < Number(length); i++) {
    const value = uintAt(data, start + 1 + i)
    if (value === null) return null
    values.push(value)
  }
  return values
}
