import { BASE_FEE_WEI, type SinkBlocks } from './blocks.js'
import { callAnswer, codeOf } from './contracts.js'
import type { SinkNonces } from './senders.js'

/** One JSON-RPC call as received; nothing is checked beyond what an answer needs. */
export interface SinkCall {
  readonly id: unknown
  readonly method: string
  readonly params?: readonly unknown[]
}

export type AnswerCall = (call: SinkCall) => string

const quoted = (value: string) => `"${value}"`
const quantity = (value: number) => `"0x${value.toString(16)}"`
/** 10^12 native coins. */
const BALANCE = quoted(`0x${(10n ** 30n).toString(16)}`)
const TIP_WEI = 1_000

/** @returns JSON of the result of each method that a wallet service calls */
export function sinkMethods(
  chainId: number,
  blocks: SinkBlocks,
  nonces: SinkNonces,
): Readonly<Record<string, (params: readonly unknown[]) => string>> {
  return {
    eth_sendRawTransaction: ([raw]) => quoted(blocks.accept(String(raw))),
    eth_getTransactionReceipt: ([hash]) => blocks.receipt(String(hash)),
    eth_getBlockByNumber: ([tag]) => blocks.blockByNumber(String(tag)),
    eth_getBlockByHash: ([hash]) => blocks.blockByHash(String(hash)),
    eth_getTransactionCount: ([address]) => quantity(nonces.nonceOf(String(address))),
    eth_call: ([call]) => {
      const { to, data, input } = call as { to: string; data?: string; input?: string }
      return quoted(callAnswer(to, data ?? input ?? '0x'))
    },
    eth_feeHistory: ([count]) => feeHistory(Number(count), blocks.height),
    eth_getCode: ([address]) => quoted(codeOf(String(address))),
    eth_getBalance: () => BALANCE,
    eth_estimateGas: () => quantity(21_000),
    eth_gasPrice: () => quantity(BASE_FEE_WEI + TIP_WEI),
    eth_maxPriorityFeePerGas: () => quantity(TIP_WEI),
    eth_blockNumber: () => quantity(blocks.height),
    eth_chainId: () => quantity(chainId),
    net_version: () => quoted(String(chainId)),
    eth_getLogs: () => '[]',
  }
}

/** @returns a function from one call to the text of its JSON-RPC answer */
export function createAnswerCall(methods: ReturnType<typeof sinkMethods>): AnswerCall {
  return ({ id, method, params }) => {
    const answer = methods[method]
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`
    return answer === undefined
      ? `${head}"error":{"code":-32601,"message":"the method ${JSON.stringify(method).slice(1, -1)} does not exist"}}`
      : `${head}"result":${answer(params ?? [])}}`
  }
}

function feeHistory(count: number, height: number): string {
  const blocks = Math.min(Math.max(1, count), height + 1)
  const fees = Array.from({ length: blocks + 1 }, () => quantity(BASE_FEE_WEI))
  const rewards = Array.from({ length: blocks }, () => `[${quantity(TIP_WEI)}]`)
  const ratios = Array.from({ length: blocks }, () => '0.5')
  return `{"oldestBlock":${quantity(height - blocks + 1)},"baseFeePerGas":[${fees}],"gasUsedRatio":[${ratios}],"reward":[${rewards}]}`
}
