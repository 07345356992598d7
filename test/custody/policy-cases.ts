import { encodeFunctionData, parseAbi } from 'viem'
import type { Address, Hex } from '../../src/domain/ids.js'
import type { RouterIntentPayload, SignPayload } from '../../src/quorum-protocol/sign-payload.js'
import { DELEGATE, ROUTER, routerIntent, STRANGER, transfer } from './harness.js'

/** Policies as owners write them, and payloads of which each says whether they allow it. */
export const USDC: Address = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
export const ALICE: Address = '0xa11ce00000000000000000000000000000000001'
export const BOB: Address = '0xb0b0000000000000000000000000000000000002'
const MALLORY: Address = '0xbad0000000000000000000000000000000000bad'
const VAULT: Address = '0x7a17000000000000000000000000000000000003'
const VENUE: Address = '0x2626664c2603336e57b271c5c0b26f421741e481'
const NATIVE: Address = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
const ZERO_WORD = '0'.repeat(64)
const WORD_MAX = 2n ** 256n - 1n

const ABI = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function transferFrom(address from, address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function increaseAllowance(address spender, uint256 added)',
  'function decreaseAllowance(address spender, uint256 removed)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferAndCall(address to, uint256 value, bytes data)',
  'function setApprovalForAll(address operator, bool approved)',
  'function safeTransferFrom(address from, address to, uint256 id)',
  'function multicall(bytes[] calls)',
  'function execute(bytes32 mode, bytes executionCalldata)',
  'function burn(uint256 amount)',
  'function deposit()',
  'function pay(address to, uint256 amount, bool last)',
  'function setOwner(address owner)',
  'function deposit(uint256 assets, address receiver)',
  'function redeem(uint256 shares, address receiver, address owner)',
])

export function call(name: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: ABI, functionName: name, args } as never)
}

export function pays(to: Address, amount: bigint): Hex {
  return call('transfer', [to, amount])
}

type Change = Parameters<typeof transfer>[1]
type MakePayload = (nonce: number, account: Address) => SignPayload

function tx(change: Change): MakePayload {
  return (nonce) => transfer(nonce, { gasLimit: 200_000n, value: 0n, ...change })
}

function token(data: Hex, change: Change = {}): MakePayload {
  return tx({ to: USDC, data, ...change })
}

function intent(change: Partial<RouterIntentPayload['intent']>, chainId = 8453): MakePayload {
  return (nonce, account) => ({
    type: 'router-intent',
    chainId,
    verifyingContract: ROUTER,
    intent: {
      ...routerIntent(account),
      tokenIn: USDC,
      amountIn: 1_000n,
      tokenOut: STRANGER,
      target: VENUE,
      nonce: BigInt(nonce),
      ...change,
    },
  })
}

function delegation(chainId = 8453): MakePayload {
  return (nonce) => ({ type: 'authorization', chainId, nonce, delegate: DELEGATE })
}

export interface PolicyCases {
  readonly name: string
  readonly policy: Readonly<Record<string, unknown>>
  readonly signs: readonly (readonly [what: string, payload: MakePayload])[]
  readonly refuses: readonly (readonly [what: string, payload: MakePayload])[]
}

const PERMIT = [0n, 27, `0x${ZERO_WORD}`, `0x${ZERO_WORD}`] as const
const AUTHORIZED = [0n, 2n ** 40n, `0x${ZERO_WORD}`, 27, `0x${ZERO_WORD}`, `0x${ZERO_WORD}`]

/** An address word with one bit above the address set. */
function dirtyTransfer(): Hex {
  return pays(ALICE, 5n).replace(ZERO_WORD.slice(0, 24), `${ZERO_WORD.slice(0, 23)}1`) as Hex
}

const PAYROLL: PolicyCases = {
  name: 'that pays two payees in one token',
  policy: {
    default: 'deny',
    rules: [
      {
        name: 'payroll',
        effect: 'allow',
        when: {
          operations: ['send'],
          chains: [8453],
          to: [USDC],
          functions: ['transfer(address,uint256)'],
          beneficiaries: [ALICE, BOB],
          amounts: [{ token: USDC, lte: '1000' }],
        },
      },
    ],
  },
  signs: [
    ['a payment', token(pays(ALICE, 1_000n))],
    ['a payment to the other payee', token(pays(BOB, 1n))],
  ],
  refuses: [
    ['approve', token(call('approve', [ALICE, 1n]))],
    ['increaseAllowance', token(call('increaseAllowance', [ALICE, 1n]))],
    ['decreaseAllowance', token(call('decreaseAllowance', [ALICE, 1n]))],
    ['permit', token(call('permit', [ALICE, BOB, 1n, ...PERMIT]))],
    ['transferFrom', token(call('transferFrom', [ALICE, BOB, 1n]))],
    ['EIP-3009', token(call('transferWithAuthorization', [ALICE, BOB, 1n, ...AUTHORIZED]))],
    [
      'EIP-3009, receiving',
      token(call('receiveWithAuthorization', [ALICE, BOB, 1n, ...AUTHORIZED])),
    ],
    ['ERC-1363', token(call('transferAndCall', [ALICE, 1n, '0x']))],
    ['a multicall of an allowed payment', token(call('multicall', [[pays(ALICE, 1n)]]))],
    ['ERC-7821', token(call('execute', [`0x${ZERO_WORD}`, '0x']))],
    ['an operator', token(call('setApprovalForAll', [ALICE, true]))],
    ['an item', token(call('safeTransferFrom', [ALICE, BOB, 1n]))],
    ['burn', token(call('burn', [1n]))],
    ['an unknown function', token(call('setOwner', [ALICE]))],
    ['a payee who is not listed', token(pays(MALLORY, 1n))],
    ['a unit more', token(pays(ALICE, 1_001n))],
    ['all there is', token(pays(ALICE, WORD_MAX))],
    ['the right function at the wrong contract', tx({ to: STRANGER, data: pays(ALICE, 1n) })],
    ['a payee as the contract', tx({ to: ALICE, data: pays(ALICE, 1n) })],
    ['the wrong chain', token(pays(ALICE, 1n), { chainId: 1 })],
    ['a dirty address', token(dirtyTransfer())],
    ['calldata behind the arguments', token(`${pays(ALICE, 1n)}00`)],
    ['another word behind them', token(`${pays(ALICE, 1n)}${ZERO_WORD}`)],
    ['calldata that is short of a byte', token(pays(ALICE, 1n).slice(0, -2) as Hex)],
    ['a selector alone', token('0xa9059cbb')],
    ['three bytes', token('0xa9059c')],
    ['no calldata', token('0x')],
    ['native value to the token', token(pays(ALICE, 1n), { value: 1n })],
    ['native value to a payee', tx({ to: ALICE, value: 1n })],
    ['a swap of the same token', intent({})],
    [
      'a deposit of it',
      intent({ target: VAULT, tokenOut: VAULT, data: call('deposit', [1n, ALICE]) }),
    ],
    [
      'a Router intent with the transfer as its call',
      intent({ target: USDC, data: pays(ALICE, 1n) }),
    ],
    ['a call of the Router', tx({ to: ROUTER, data: pays(ALICE, 1n) })],
    ['a delegation', delegation()],
  ],
}

const DENYLIST: PolicyCases = {
  name: 'that refuses some things and lets the rest through',
  policy: {
    default: 'allow',
    rules: [
      {
        name: 'no approvals',
        effect: 'deny',
        when: {
          functions: [
            'approve(address,uint256)',
            'increaseAllowance(address,uint256)',
            'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
          ],
        },
      },
      { name: 'not this contract', effect: 'deny', when: { to: [STRANGER] } },
      { name: 'little native value', effect: 'deny', when: { value_native_gt: '1000' } },
      { name: 'small payments', effect: 'deny', when: { amounts: [{ token: USDC, gt: '1000' }] } },
      { name: 'known payees', effect: 'deny', when: { beneficiaries: [MALLORY] } },
      { name: 'a person is asked', effect: 'require_approval', when: { chains: [1] } },
    ],
  },
  signs: [
    ['a payment', token(pays(ALICE, 1_000n))],
    ['native value', tx({ to: ALICE, value: 1_000n })],
  ],
  refuses: [
    ['approve', token(call('approve', [ALICE, 1n]))],
    ['increaseAllowance', token(call('increaseAllowance', [ALICE, 1n]))],
    ['permit', token(call('permit', [ALICE, BOB, 1n, ...PERMIT]))],
    [
      'approve with a dirty word',
      token(call('approve', [ALICE, 1n]).replace('0'.repeat(24), `1${'0'.repeat(23)}`) as Hex),
    ],
    ['approve with too little calldata', token('0x095ea7b3')],
    ['the contract it names', tx({ to: STRANGER, data: pays(ALICE, 1n) })],
    ['too much native value', tx({ to: ALICE, value: 1_001n })],
    ['too many units', token(pays(ALICE, 1_001n))],
    ['units that cannot be read', token(call('burn', [1n]))],
    ['a payee that it names', token(pays(MALLORY, 1n))],
    ['that payee in native value', tx({ to: MALLORY, value: 1n })],
    ['payees that cannot be read', tx({ to: VAULT, data: call('setOwner', [ALICE]) })],
    ['what a person would have to approve', token(pays(ALICE, 1n), { chainId: 1 })],
    ['too many units in a Router intent', intent({ amountIn: 1_001n })],
    ['a venue that it names', intent({ target: STRANGER })],
  ],
}

const ARGUMENTS: PolicyCases = {
  name: 'over the arguments of one function',
  policy: {
    default: 'deny',
    rules: [
      {
        name: 'pay',
        effect: 'allow',
        when: {
          to: [VAULT],
          functions: ['pay(address,uint256,bool)'],
          arguments: [
            { index: 0, op: 'in', value: [ALICE, BOB] },
            { index: 1, op: 'gte', value: '10' },
            { index: 1, op: 'lte', value: '20' },
            { index: 2, op: 'eq', value: true },
          ],
        },
      },
    ],
  },
  signs: [
    ['what it says', tx({ to: VAULT, data: call('pay', [ALICE, 10n, true]) })],
    ['its other end', tx({ to: VAULT, data: call('pay', [BOB, 20n, true]) })],
  ],
  refuses: [
    ['another payee', tx({ to: VAULT, data: call('pay', [MALLORY, 10n, true]) })],
    ['too little', tx({ to: VAULT, data: call('pay', [ALICE, 9n, true]) })],
    ['too much', tx({ to: VAULT, data: call('pay', [ALICE, 21n, true]) })],
    ['the other flag', tx({ to: VAULT, data: call('pay', [ALICE, 10n, false]) })],
    [
      'a flag of 2',
      tx({ to: VAULT, data: call('pay', [ALICE, 10n, true]).replace(/1$/, '2') as Hex }),
    ],
    ['another function of the same contract', tx({ to: VAULT, data: call('setOwner', [ALICE]) })],
    ['the same arguments elsewhere', tx({ to: USDC, data: call('pay', [ALICE, 10n, true]) })],
    [
      'a dirty payee',
      tx({
        to: VAULT,
        data: call('pay', [ALICE, 10n, true]).replace(
          '0'.repeat(24),
          `${'0'.repeat(20)}f000`,
        ) as Hex,
      }),
    ],
    [
      'an argument less',
      tx({ to: VAULT, data: call('pay', [ALICE, 10n, true]).slice(0, -64) as Hex }),
    ],
    ['an argument more', tx({ to: VAULT, data: `${call('pay', [ALICE, 10n, true])}${ZERO_WORD}` })],
  ],
}

const TRADER: PolicyCases = {
  name: 'that trades at one venue',
  policy: {
    default: 'deny',
    rules: [
      {
        name: 'swaps',
        effect: 'allow',
        when: {
          operations: ['swap'],
          chains: [8453],
          to: [VENUE],
          amounts: [{ token: USDC, lte: '5000' }],
        },
      },
      { name: 'deposits', effect: 'allow', when: { operations: ['defi_deposit'], to: [VAULT] } },
    ],
  },
  signs: [
    ['a swap', intent({ amountIn: 5_000n })],
    ['a swap into native currency', intent({ tokenOut: NATIVE })],
    ['a deposit', intent({ target: VAULT, tokenOut: VAULT, data: call('deposit', [1n, ALICE]) })],
    ['the delegation that those need', delegation()],
  ],
  refuses: [
    ['a swap at another venue', intent({ target: STRANGER })],
    ['a swap of more', intent({ amountIn: 5_001n })],
    ['a swap of another token', intent({ tokenIn: VAULT })],
    ['a swap of native currency', intent({ tokenIn: NATIVE })],
    ['a swap on another chain', intent({}, 1)],
    [
      'a withdrawal',
      intent({
        tokenIn: VAULT,
        target: VAULT,
        tokenOut: USDC,
        data: call('redeem', [1n, ALICE, ALICE]),
      }),
    ],
    [
      'a deposit elsewhere',
      intent({ target: BOB, tokenOut: BOB, data: call('deposit', [1n, ALICE]) }),
    ],
    [
      'a swap with the calldata of a deposit',
      intent({ target: VAULT, data: call('deposit', [1n, ALICE]) }),
    ],
    ['a payment', token(pays(ALICE, 1n))],
    ['an approval for the venue', token(call('approve', [VENUE, 1n]))],
    ['a transaction to the venue', tx({ to: VENUE, data: '0x12345678' })],
  ],
}

const NATIVE_ONLY: PolicyCases = {
  name: 'for native currency on one chain',
  policy: {
    default: 'deny',
    rules: [
      {
        name: 'tips',
        effect: 'allow',
        when: {
          chains: [8453],
          functions: ['native'],
          value_native_lte: '100',
          not: { to: [MALLORY] },
        },
      },
    ],
  },
  signs: [['a tip', tx({ to: ALICE, value: 100n })]],
  refuses: [
    ['a larger tip', tx({ to: ALICE, value: 101n })],
    ['a tip with calldata', tx({ to: ALICE, value: 1n, data: '0x00' })],
    ['a tip whom it excepts', tx({ to: MALLORY, value: 1n })],
    ['a tip on another chain', tx({ to: ALICE, value: 1n, chainId: 1 })],
    ['a payment in a token', token(pays(ALICE, 1n))],
    ['a delegation on another chain', delegation(1)],
  ],
}

/** At no minute of these days is it this one. */
const OTHER_DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'].filter(
  (_, day) =>
    (day - new Date().getUTCDay() + 7) % 7 > 1 && (day - new Date().getUTCDay() + 7) % 7 < 6,
)

const HOURS: PolicyCases = {
  name: 'for some days',
  policy: {
    default: 'deny',
    rules: [
      {
        name: 'office hours',
        effect: 'allow',
        when: { chains: [8453], utc_hours: [{ days: OTHER_DAYS, from: '00:00', to: '24:00' }] },
      },
      {
        name: 'always here',
        effect: 'allow',
        when: {
          chains: [1],
          not: { utc_hours: [{ days: OTHER_DAYS, from: '00:00', to: '24:00' }] },
        },
      },
    ],
  },
  signs: [['a call outside the hours that it excepts', tx({ to: ALICE, value: 1n, chainId: 1 })]],
  refuses: [
    ['a call outside its hours', tx({ to: ALICE, value: 1n })],
    ['a delegation outside them', delegation()],
    ['an intent outside them', intent({})],
  ],
}

export const POLICY_CASES: readonly PolicyCases[] = [
  PAYROLL,
  DENYLIST,
  ARGUMENTS,
  TRADER,
  NATIVE_ONLY,
  HOURS,
]
