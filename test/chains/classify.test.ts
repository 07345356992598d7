import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classifyNodeError, isEndpointFault } from '../../src/chains/rpc/classify.js'
import { NODE_ERROR_ROWS } from '../../src/chains/rpc/node-errors.js'

/** Texts as the clients' sources and public reports have them; the last column names the client. */
const TEXTS: readonly [text: string, kind: string, detail: string | null, client: string][] = [
  ['already known', 'known', null, 'geth, reth, erigon, nethermind'],
  ['AlreadyKnown', 'known', null, 'nethermind before 1.32'],
  ['Known transaction', 'known', null, 'besu'],
  ['known transaction: 7e1f', 'known', null, 'old geth, bsc'],
  ['Tx: [0x8f1e] already Imported', 'known', null, 'anvil'],
  ['transaction already imported', 'known', null, 'anvil'],
  ['INTERNAL_ERROR: existing tx with same hash', 'known', null, 'erigon'],
  ['existing txn with same hash', 'known', null, 'erigon'],
  ['Transaction with the same hash was already imported.', 'known', null, 'parity'],
  ['nonce too low: next nonce 7, tx nonce 6', 'nonce-too-low', null, 'geth'],
  [
    'nonce too low: address 0x71562b71999873DB5b286dF957af199Ec94617F7, tx: 3 state: 4',
    'nonce-too-low',
    null,
    'nitro',
  ],
  ['OldNonce, Current nonce: 22, nonce of rejected tx: 17', 'nonce-too-low', null, 'nethermind'],
  ['nonce too low', 'nonce-too-low', null, 'anvil'],
  ['mined', 'nonce-too-low', null, 'erigon'],
  ['nonce too high: tx nonce 9, gapped nonce 7', 'retry', null, 'geth blob pool'],
  ['Nonce too high', 'retry', null, 'anvil'],
  ['NonceGap, Future nonce. Expected nonce: 10', 'retry', null, 'nethermind'],
  ['nonce too far in future', 'retry', null, 'nethermind'],
  ['in-flight transaction limit reached for delegated accounts', 'retry', null, 'geth'],
  ['gapped-nonce tx from delegated accounts', 'retry', null, 'geth'],
  ['origin account that has gapped nonce cannot be delegated', 'retry', null, 'geth forks'],
  ['authority already reserved', 'retry', null, 'geth'],
  ['address already reserved', 'retry', null, 'geth'],
  ['EIP-7702 transaction with authority already reserved', 'retry', null, 'erigon'],
  ['delegation authority has pending transaction', 'retry', null, 'nethermind'],
  ['delegation nonce gap', 'retry', null, 'nethermind'],
  ['authority nonce too low', 'rejected', 'authorization', 'geth'],
  ['future transaction tries to replace pending', 'retry', null, 'geth'],
  ['txpool is full', 'retry', null, 'geth, reth'],
  ['pending sub-pool is full', 'retry', null, 'erigon'],
  ['account limit exceeded: pooled 64 txs', 'retry', null, 'geth'],
  ['spammer', 'retry', null, 'erigon'],
  ['queue full', 'retry', null, 'nitro'],
  ['sequencer pending tx pool full, please try again', 'retry', null, 'nitro'],
  ['node is syncing', 'retry', null, 'nethermind'],
  ['tx fee (1.20 ether) exceeds the configured cap (1.00 ether)', 'retry', null, 'geth'],
  ['replacement transaction underpriced', 'underpriced', 'replacement', 'geth'],
  [
    'replacement transaction underpriced: new tx gas fee cap 100 <= 100 queued',
    'underpriced',
    'replacement',
    'geth blob pool',
  ],
  ['could not replace existing tx', 'underpriced', 'replacement', 'erigon'],
  [
    'Tx: [0x12] insufficient gas price to replace existing transaction',
    'underpriced',
    'replacement',
    'anvil',
  ],
  ['ReplacementNotAllowed', 'underpriced', 'replacement', 'nethermind'],
  ['transaction underpriced', 'underpriced', 'floor', 'geth'],
  ['underpriced', 'underpriced', 'floor', 'erigon'],
  ['fee too low', 'underpriced', 'floor', 'erigon'],
  ['transaction underpriced: tip needed 1, tip permitted 0', 'underpriced', 'floor', 'op-geth'],
  [
    'transaction gas price below minimum: gas tip cap 1, minimum needed 25000000000',
    'underpriced',
    'floor',
    'bor',
  ],
  [
    'max fee per gas less than block base fee: address 0x20f3, maxFeePerGas: 10000000, baseFee: 765625000',
    'underpriced',
    'floor',
    'nitro',
  ],
  [
    'FeeTooLow, EffectivePriorityFeePerGas too low 0 < 1, BaseFee: 7',
    'underpriced',
    'floor',
    'nethermind',
  ],
  ['FeeTooLowToCompete', 'underpriced', 'floor', 'nethermind'],
  ['Gas price below configured minimum gas price', 'underpriced', 'floor', 'besu'],
  [
    'transaction priority fee below minimum required priority fee 1000',
    'underpriced',
    'floor',
    'reth',
  ],
  ['gas price too low', 'underpriced', 'floor', 'arbitrum classic'],
  [
    'insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000',
    'rejected',
    'insufficient-funds',
    'geth',
  ],
  [
    'insufficient funds for gas * price + value: address 0x71 have 0 want 21000',
    'rejected',
    'insufficient-funds',
    'nitro',
  ],
  ['Insufficient funds for gas * price + value', 'rejected', 'insufficient-funds', 'anvil'],
  ['insufficient funds for transfer', 'rejected', 'insufficient-funds', 'geth'],
  [
    'InsufficientFunds, Balance is 0 less than sending value + gas 5',
    'rejected',
    'insufficient-funds',
    'nethermind',
  ],
  ['Upfront cost exceeds account balance', 'rejected', 'insufficient-funds', 'besu'],
  [
    'insufficient funds for gas * price + value: balance 9, queued cost 8, tx cost 7, overshot 6',
    'retry',
    null,
    'geth',
  ],
  ['InsufficientFunds, Account balance: 9, cumulative cost: 12', 'retry', null, 'nethermind'],
  ['intrinsic gas too low: gas 20000, minimum needed 21000', 'rejected', 'intrinsic-gas', 'geth'],
  [
    'insufficient gas for floor data gas cost: gas 22000, minimum needed 30000',
    'rejected',
    'intrinsic-gas',
    'geth',
  ],
  ['IntrinsicGas', 'rejected', 'intrinsic-gas', 'erigon'],
  ['exceeds block gas limit', 'rejected', 'gas-limit', 'geth'],
  ['transaction gas limit too high (cap: 16777216, tx: 20000000)', 'rejected', 'gas-limit', 'geth'],
  ['exceeds max transaction gas limit', 'rejected', 'gas-limit', 'reth'],
  [
    'intrinsic gas too high -- tx.gas_limit > env.block.gas_limit',
    'rejected',
    'gas-limit',
    'anvil',
  ],
  ['oversized data: transaction size 140000, limit 131072', 'rejected', 'oversized', 'geth'],
  ['sender not an eoa: address 0x71, codehash: 0x12', 'rejected', 'sender-has-code', 'geth'],
  ['SenderIsContract', 'rejected', 'sender-has-code', 'nethermind'],
  ['execution reverted: ERC20: transfer amount exceeds balance', 'rejected', 'reverted', 'nitro'],
  [
    'transaction type not supported: type 4 rejected, pool not yet in Prague',
    'rejected',
    'unsupported',
    'geth',
  ],
  ['invalid sender: invalid chain id for signer: have 1 want 10', 'rejected', 'invalid', 'geth'],
  ['Invalid signature', 'rejected', 'invalid', 'parity'],
  ['rlp: value size exceeds available input length', 'rejected', 'invalid', 'geth'],
  ['failed to decode signed transaction', 'rejected', 'invalid', 'reth, anvil'],
  [
    'max priority fee per gas higher than max fee per gas: address 0x71',
    'rejected',
    'invalid',
    'geth',
  ],
  ['set code tx must have at least one authorization tuple', 'rejected', 'invalid', 'geth'],
  ['invalid chain id for signer', 'rejected', 'invalid', 'anvil'],
  ['Post "https://sequencer": context deadline exceeded', 'indeterminate', null, 'nitro forwarder'],
  [
    "failed to forward tx to sequencer, please try again. Error message: 'nonce too low'",
    'nonce-too-low',
    null,
    'op-geth',
  ],
  ['something nobody has ever seen', 'indeterminate', null, 'unknown'],
  ['Internal error', 'indeterminate', null, 'gateways, after they passed the bytes on or before'],
  ['', 'indeterminate', null, 'unknown'],
]

describe('the classifier of node errors', () => {
  test.each(TEXTS)('%s → %s (%s)', (text, kind, detail) => {
    const { outcome } = classifyNodeError(-32000, text)
    expect(outcome.kind).toBe(kind)
    if (outcome.kind === 'rejected') expect(outcome.reason).toBe(detail)
    if (outcome.kind === 'underpriced') expect(outcome.against).toBe(detail)
  })

  test('every row is hit by some text of the table', () => {
    const unused = NODE_ERROR_ROWS.filter(
      (row) => !TEXTS.some(([text]) => NODE_ERROR_ROWS.find((r) => r.pattern.test(text)) === row),
    )
    expect(unused.map((row) => row.why)).toEqual([])
  })

  test('a rate limit is never a rejection, whatever its text says', () => {
    expect(classifyNodeError(-32005, 'insufficient funds of compute units').outcome.kind).toBe(
      'indeterminate',
    )
  })

  test('words that nobody knows never prove that a node did not take the bytes', () => {
    fc.assert(
      fc.property(fc.integer(), fc.string({ maxLength: 4_000 }), (code, text) => {
        const { outcome } = classifyNodeError(code, text)
        if (NODE_ERROR_ROWS.some((row) => row.pattern.test(text))) return
        expect(outcome.kind).toBe('indeterminate')
      }),
    )
  })

  test('a megabyte of hostile text is classified in bounded time and kept short', () => {
    const { outcome } = classifyNodeError(-32000, 'insufficient funds '.repeat(60_000))
    expect(outcome.kind === 'rejected' && outcome.text.length).toBeLessThan(400)
  })
})

test('a revert is an answer, a missing header is a fault of the endpoint', () => {
  expect(isEndpointFault(3, 'execution reverted: timeout')).toBe(false)
  expect(isEndpointFault(-32000, 'execution reverted')).toBe(false)
  expect(isEndpointFault(-32000, 'header not found')).toBe(true)
  expect(isEndpointFault(-32601, 'the method eth_simulateV1 does not exist')).toBe(true)
})
