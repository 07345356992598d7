import { encodeFunctionData, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { encodeExecute, intentNonceOf, intentTermsOf } from '../../src/contracts/router-intent.js'
import type { RouterIntent } from '../../src/contracts/router-intent-type.js'

const [ACCOUNT, TOKEN, OTHER, VENUE] = ['1', '2', '3', '4'].map(
  (digit) => `0x${digit.repeat(40)}` as const,
) as [`0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`]
const TERMS = {
  ...{ tokenIn: TOKEN, amountIn: 5n, feeBps: 30, tokenOut: OTHER, minOut: 4n, target: VENUE },
  data: '0x12345678abcd',
} as const
const INTENT: RouterIntent = { ...TERMS, account: ACCOUNT, nonce: 7n, deadline: 1_800_000_000 }

/** Of a Router that had one co-signer, and so no key of it beside its signature. */
const BEFORE = parseAbi([
  'struct Intent { address account; address tokenIn; uint256 amountIn; uint16 feeBps; address tokenOut; uint256 minOut; address target; uint256 nonce; uint48 deadline; bytes32 dataHash; }',
  'struct UserSignature { bytes32 r; bytes32 vs; }',
  'struct CoSignature { bytes32 r; bytes32 s; }',
  'function execute(Intent intent, bytes data, UserSignature userSignature, CoSignature coSignature)',
])
const WORD = `0x${'11'.repeat(32)}` as const

test('what a call was told is read of its record, also where an earlier Router was told it', () => {
  const { data, ...terms } = INTENT
  const before = encodeFunctionData({
    abi: BEFORE,
    args: [{ ...terms, dataHash: WORD }, data, { r: WORD, vs: WORD }, { r: WORD, s: WORD }],
  })
  const now = encodeExecute(INTENT, new Uint8Array(65).fill(1, 0, 64), {
    publicKey: new Uint8Array(65).fill(4),
    signature: new Uint8Array(64).fill(1),
  })
  expect(before.slice(0, 10)).not.toBe(now.slice(0, 10))
  for (const calldata of [before, now]) {
    expect(intentTermsOf(calldata)).toEqual(TERMS)
    expect(intentNonceOf(calldata)).toBe(7n)
  }
})

test('a co-signature without its key, or with half of one, is no calldata', () => {
  const user = new Uint8Array(65).fill(1, 0, 64)
  const signature = new Uint8Array(64).fill(1)
  const encode = (bytes: number) =>
    encodeExecute(INTENT, user, { publicKey: new Uint8Array(bytes), signature })
  for (const bytes of [0, 33, 64, 66]) expect(() => encode(bytes)).toThrow(RangeError)
})
