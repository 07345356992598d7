import fc from 'fast-check'
import { encodeAbiParameters, getAddress, pad, parseAbiParameters, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { createMovements } from '../../src/chains/simulate/movements.js'
import { readTraceCall } from '../../src/chains/simulate/trace-call.js'
import type { Address, Hex } from '../../src/domain/ids.js'

const token = getAddress('0x00000000000000000000000000000000000000ff')
const weth = getAddress('0x00000000000000000000000000000000000000ee')
const a = getAddress('0x000000000000000000000000000000000000aaaa')
const b = getAddress('0x000000000000000000000000000000000000bbbb')
const operator = getAddress('0x000000000000000000000000000000000000cccc')

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'
const APPROVAL_FOR_ALL = '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31'
const PERMIT2_APPROVAL = '0xda9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b'
const WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'

function word(value: bigint): Hex {
  return pad(toHex(value), { size: 32 })
}

function read(address: Address, topics: Hex[], data: Hex) {
  const movements = createMovements(weth)
  movements.log({ address, topics: topics.map((t) => (t.length === 42 ? pad(t) : t)), data })
  return movements.finish()
}

describe('logs', () => {
  test('ERC-721 and ERC-20 transfers differ by a fourth topic', () => {
    expect(read(token, [TRANSFER, a, b, word(9n)], '0x').transfers).toEqual([
      { token, from: a, to: b, amount: 1n, kind: 'erc721', tokenId: 9n },
    ])
    expect(read(token, [TRANSFER, a, b], word(9n)).transfers).toEqual([
      { token, from: a, to: b, amount: 9n, kind: 'erc20' },
    ])
  })

  test('ERC-1155 single and batch transfers', () => {
    const single = encodeAbiParameters(parseAbiParameters('uint256, uint256'), [4n, 5n])
    expect(read(token, [TRANSFER_SINGLE, operator, a, b], single).transfers).toEqual([
      { token, from: a, to: b, amount: 5n, kind: 'erc1155', tokenId: 4n },
    ])
    const batch = encodeAbiParameters(parseAbiParameters('uint256[], uint256[]'), [
      [1n, 2n],
      [3n, 4n],
    ])
    expect(
      read(token, [TRANSFER_BATCH, operator, a, b], batch).transfers.map((t) => [
        t.tokenId,
        t.amount,
      ]),
    ).toEqual([
      [1n, 3n],
      [2n, 4n],
    ])
  })

  test('a batch that does not decode is never passed over in silence', () => {
    expect(read(token, [TRANSFER_BATCH, operator, a, b], '0x').truncated).toBe(true)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const movements = read(token, [TRANSFER_BATCH, operator, a, b], toHex(bytes))
        expect(movements.transfers.length <= 256).toBe(true)
      }),
    )
  })

  test('approvals of a token, an item, a collection and by Permit2', () => {
    expect(read(token, [APPROVAL, a, b], word(7n)).approvals).toMatchObject([
      { kind: 'erc20', amount: 7n, owner: a, spender: b },
    ])
    expect(read(token, [APPROVAL, a, b, word(7n)], '0x').approvals).toMatchObject([
      { kind: 'erc721', amount: 1n },
    ])
    expect(read(token, [APPROVAL_FOR_ALL, a, b], word(1n)).approvals).toMatchObject([
      { kind: 'collection', amount: 'all' },
    ])
    expect(read(token, [APPROVAL_FOR_ALL, a, b], word(0n)).approvals).toMatchObject([
      { amount: 0n },
    ])
    const data = encodeAbiParameters(parseAbiParameters('uint160, uint48'), [8n, 9])
    expect(read(operator, [PERMIT2_APPROVAL, a, token, b], data).approvals).toEqual([
      { token, owner: a, spender: b, amount: 8n, kind: 'permit2' },
    ])
  })

  test('only the wrapped native token’s Withdrawal is a burn', () => {
    expect(read(weth, [WITHDRAWAL, a], word(2n)).transfers).toMatchObject([{ from: a, amount: 2n }])
    expect(read(token, [WITHDRAWAL, a], word(2n)).transfers).toEqual([])
  })

  test('a burn that logs both Transfer and Withdrawal counts once, two of them twice', () => {
    const movements = createMovements(weth)
    const zero = pad('0x')
    for (let i = 0; i < 2; i++) {
      movements.log({ address: weth, topics: [WITHDRAWAL, pad(a)], data: word(2n) })
      movements.log({ address: weth, topics: [TRANSFER, pad(a), zero], data: word(2n) })
    }
    expect(movements.finish().transfers).toHaveLength(2)
  })

  test('a native transfer logged by the protocol (EIP-7708) is not counted again', () => {
    const system = '0xfffffffffffffffffffffffffffffffffffffffe'
    expect(read(system, [TRANSFER, a, b], word(2n)).transfers).toEqual([])
  })

  test('logs with fewer topics or less data than their event are no movement', () => {
    for (const topic of [
      TRANSFER,
      APPROVAL,
      APPROVAL_FOR_ALL,
      PERMIT2_APPROVAL,
      WITHDRAWAL,
    ] as const) {
      const movements = read(token, [topic], '0x')
      expect([movements.transfers, movements.approvals]).toEqual([[], []])
    }
    expect(read(token, [TRANSFER, a, b], '0x').transfers).toEqual([])
  })
})

describe('call frames', () => {
  const call = { from: a, to: b, data: '0x', value: 0n } as const
  const frame = (said: object) => ({
    type: 'CALL',
    from: a,
    to: b,
    value: '0x0',
    gasUsed: '0x1',
    ...said,
  })

  test('a reverted frame takes all below it along', () => {
    const inner = frame({
      value: '0x5',
      logs: [{ address: token, topics: [TRANSFER, pad(a), pad(b)], data: word(1n) }],
    })
    const failing = frame({ error: 'execution reverted', calls: [inner] })
    expect(readTraceCall(call, weth, frame({ calls: [failing] })).transfers).toEqual([])
    expect(readTraceCall(call, weth, frame({ calls: [inner] })).transfers).toHaveLength(2)
  })

  test('a DELEGATECALL repeats its parent’s value without moving it', () => {
    const delegate = frame({ type: 'DELEGATECALL', value: '0x5', from: b, to: operator })
    const seen = readTraceCall(call, weth, frame({ value: '0x5', calls: [delegate] }))
    expect(seen.transfers).toHaveLength(1)
    expect(seen.touched).toContain(operator)
  })

  test('more frames than are visited is truncated', () => {
    const calls = Array.from({ length: 20_001 }, () => frame({}))
    expect(readTraceCall(call, weth, frame({ calls })).truncated).toBe(true)
  })
})
