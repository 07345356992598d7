import type { Address, Hex } from '../domain/ids.js'
import { FaultError, fault } from '../errors/fault.js'
import { parseBlock } from './heads.js'
import { fixedHex, quantityNumber, record, toQuantity } from './hex.js'
import { RpcShapeError } from './rpc/errors.js'
import type { RpcCall, RpcClient } from './rpc/types.js'

/** An event of one contract; numbers and sizes are checked, the data is not decoded. */
interface ContractEvent {
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockNumber: number
  readonly logIndex: number
}

interface EventRange {
  readonly events: readonly ContractEvent[]
  /** The last block of the range, from the same node. */
  readonly through: { readonly number: number; readonly hash: Hex; readonly timestampMs: number }
}

/** Reads the history of one contract's events. */
export interface ContractEvents {
  newestBlock(): Promise<number>
  /** The hash of a block; null when the node has no such block. */
  blockHash(number: number): Promise<Hex | null>
  /**
   * The events of the blocks `from` to `to`, both included.
   * @throws when no node has the last block yet, or all refuse a range of that size
   */
  range(from: number, to: number): Promise<EventRange>
  /**
   * Whether the contract existed at the end of a block.
   * @throws when the node lacks that state
   */
  existsAt(block: number): Promise<boolean>
}

/** A range with more events means that another contract is at the address. */
const EVENTS_MAX = 10_000
const DATA_CHARS_MAX = 8_000_000
const TOPICS_MAX = 4

/** @param topics the permitted first topics of an event */
export function createContractEvents(
  rpc: RpcClient,
  address: Address,
  topics: readonly Hex[],
): ContractEvents {
  const block = async (at: string) =>
    parseBlock(rpc.chainId, await rpc.request('eth_getBlockByNumber', [at, false]))
  return {
    async newestBlock() {
      return quantityNumber(await rpc.request('eth_blockNumber', []))
    },
    async blockHash(number) {
      return (await block(toQuantity(number)))?.hash ?? null
    },
    async range(from, to) {
      const [fromBlock, toBlock] = [toQuantity(from), toQuantity(to)]
      const asked: readonly [RpcCall, RpcCall] = [
        { method: 'eth_getLogs', params: [{ address, topics: [topics], fromBlock, toBlock }] },
        { method: 'eth_getBlockByNumber', params: [toBlock, false] },
      ]
      let found: EventRange | null = null
      let failure: unknown = null
      // One node answers both: a lagging node has an empty list for blocks that it has not seen,
      // and combining it with another node's block would skip them for good. The block comes first,
      // in this order also for a node that takes one call at a time.
      const [logsAsked, lastAsked] = asked
      await rpc.views([lastAsked, logsAsked], ([last, logs]) => {
        try {
          found = rangeOf(rpc.chainId, address, logs, last)
        } catch (error) {
          failure = error
        }
        return found !== null
      })
      if (found !== null) return found
      if (failure !== null) throw failure
      return await apart(rpc, address, asked)
    },
    async existsAt(at) {
      const code = await rpc.request<unknown>('eth_getCode', [address, toQuantity(at)])
      if (typeof code !== 'string') throw new RpcShapeError('code')
      return code.length > 2
    },
  }
}

/** @throws unless the node has the last block and a list of events */
function rangeOf(chainId: number, address: Address, logs: unknown, last: unknown): EventRange {
  const through = parseBlock(chainId, last)
  if (through === null) throw new RpcShapeError('a block that the node has')
  return { events: parseEvents(logs, address), through }
}

/**
 * Used when no node answers both in one request. With a single node both answers come from it in
 * any case; the block is read first, so that the node has it when it lists the events, and a
 * refusal of either is reported.
 */
async function apart(
  rpc: RpcClient,
  address: Address,
  [asked, block]: readonly [RpcCall, RpcCall],
): Promise<EventRange> {
  if (rpc.endpoints().length > 1) {
    throw new FaultError(fault('CHAIN_UNAVAILABLE', { chain_id: rpc.chainId }, undefined, NO_BATCH))
  }
  const last = await rpc.request<unknown>(block.method, block.params)
  const logs = await rpc.request<unknown>(asked.method, asked.params)
  return rangeOf(rpc.chainId, address, logs, last)
}

const NO_BATCH =
  'no endpoint answered for the events and their last block in one request; the range may be too large'

function parseEvents(logs: unknown, address: Address): readonly ContractEvent[] {
  if (!Array.isArray(logs) || logs.length > EVENTS_MAX) throw new RpcShapeError('logs')
  return logs.map((log) => parseEvent(log, address))
}

function parseEvent(value: unknown, address: Address): ContractEvent {
  const log = record(value)
  const { topics, data } = log
  if (typeof log.address !== 'string' || log.address.toLowerCase() !== address.toLowerCase()) {
    throw new RpcShapeError('a log of this contract')
  }
  if (log.removed === true) throw new RpcShapeError('a log of the canonical chain')
  if (!Array.isArray(topics) || topics.length > TOPICS_MAX) throw new RpcShapeError('topics')
  if (typeof data !== 'string' || data.length > DATA_CHARS_MAX || !/^0x[0-9a-f]*$/i.test(data)) {
    throw new RpcShapeError('log data')
  }
  return {
    topics: topics.map((topic) => fixedHex(topic, 32)),
    data: data as Hex,
    blockNumber: quantityNumber(log.blockNumber),
    logIndex: quantityNumber(log.logIndex),
  }
}
