import { CONTRACT_FUNCTIONS } from '../../contracts/functions/all-functions.js'
import { plainNameOf } from '../../contracts/functions/plain-names.js'
import type { ApprovalTerm } from '../../custody/approvals/approval-term.js'
import type { PinnedToken } from '../../custody/domain-keys/pinned-tokens.js'
import { chainFacts } from '../../domain/chains.js'
import type { Address, Hex } from '../../domain/ids.js'
import { formatUnits } from '../../domain/money.js'
import { isWellFormed, SELECTOR_CHARS, wordAt, wordValue } from '../../policy/abi-words.js'
import {
  amountInUnits,
  callSentence,
  exchangeSentence,
  leavesAllowance,
  moveOf,
  type TokenNames,
} from '../../policy/call-sentence.js'
import { type CallShown, showCall, showIntent } from '../../policy/call-shown.js'
import { parseSignature } from '../../policy/function-signature.js'
import { bigintOf } from '../../quorum-protocol/bytes.js'
import { decodeRouterIntent } from '../../quorum-protocol/router-intent.js'
import { toHex } from '../../quorum-protocol/transaction.js'

/** Name and value of a line. The value may be long and may come from anyone. */
export type Line = readonly [name: string, value: string]

/** The native currency of every supported chain has 18 decimals. */
const NATIVE_DECIMALS = 18
/** How much calldata of an unknown function is shown: enough to recognise it. */
const RAW_CHARS_MAX = 512
const LINES_MAX = 24

interface KnownFunction {
  /** The signature as a compiler writes it, without argument names. */
  readonly canonical: string
  readonly names: readonly string[]
}

/** Functions by selector. */
export const KNOWN_FUNCTIONS: ReadonlyMap<string, KnownFunction> = new Map(
  CONTRACT_FUNCTIONS.map(({ selector, signature }) => [`0x${selector}`, readSignature(signature)]),
)

/**
 * Describes one call from the bytes that are signed, decoded here, with the tokens that the
 * registry pins. Nothing comes from the service.
 * @param call calldata, or the encoded Router intent; the term holds its hash
 * @param pinned the chain's tokens by lower-case address
 */
export function describeCall(
  term: ApprovalTerm,
  call: Uint8Array,
  pinned: ReadonlyMap<string, PinnedToken>,
): Line[] {
  const names: TokenNames = (token) => pinned.get(token) ?? null
  const chain = chainFacts(term.chainId)
  const native = chain?.nativeSymbol ?? 'native currency'
  const chainLine: Line = ['Chain', chain?.name ?? `chain ${term.chainId}`]
  const lines =
    term.kind === 'transaction'
      ? transactionLines(term, call, names)
      : intentLines(decodeRouterIntent(call), names)
  const gas = `${formatUnits(term.maxNativeWei, NATIVE_DECIMALS)} ${native} at the most`
  const fee: Line = ['Network fee', term.kind === 'transaction' ? gas : 'paid by the service']
  return [...lines, chainLine, fee]
}

/** Tells whether the bytes of a transaction name its beneficiary. */
export function saysWhomItPays({ chainId, value, to }: ApprovalTerm, call: Uint8Array): boolean {
  const shown = { operation: 'send', chainId, to: toHex(to), value, data: toHex(call) } as const
  return showCall(shown).beneficiaries !== null
}

function transactionLines(term: ApprovalTerm, call: Uint8Array, names: TokenNames): Line[] {
  const { chainId, value } = term
  const to = toHex(term.to)
  const data = toHex(call)
  const shown = showCall({ operation: 'send', chainId, to, value, data })
  const inShort: Line = ['In short', callSentence(shown, names, plainNameOf(shown.selector))]
  const native = { token: 'native', amount: value } as const
  const sent: Line[] = value > 0n ? [['Sends', amountInUnits(native, chainId, names)]] : []
  if (call.length === 0) return [inShort, ...sent, ['To', to]]
  return [
    inShort,
    ...movedLines(shown, names),
    ...sent,
    ...payeeLines(shown),
    ['Contract', contractName(shown.callee, to, names)],
    ...dataLines(data),
  ]
}

/** Puts a pinned token's name before its address. */
function contractName(callee: Address, to: string, names: TokenNames): string {
  const token = names(callee)
  return token === null ? to : `the token ${token.symbol}, ${to}`
}

function intentLines(intent: ReturnType<typeof decodeRouterIntent>, names: TokenNames): Line[] {
  const amountIn = bigintOf(intent.amountIn)
  const [tokenIn, tokenOut] = [toHex(intent.tokenIn), toHex(intent.tokenOut)]
  const target = toHex(intent.target)
  const data = toHex(intent.data)
  const shown = showIntent(null, intent.chainId, { tokenIn, amountIn, tokenOut, target, data })
  const minOut = bigintOf(intent.minOut)
  const asset = (token: string, amount: bigint) =>
    amountInUnits(moveOf(token, amount), intent.chainId, names)
  return [
    ['In short', exchangeSentence({ tokenIn, amountIn, tokenOut, minOut }, intent.chainId, names)],
    ['Gives', asset(tokenIn, amountIn)],
    ['For at least', asset(tokenOut, minOut)],
    ['Fee', `${intent.feeBps / 100} % of what it gives`],
    ['Venue', shown.callee],
    ...dataLines(shown.data),
  ]
}

/** Lists the tokens that leave the wallet, or that others may take. */
function movedLines({ chainId, moves, selector }: CallShown, names: TokenNames): Line[] {
  if (moves === null) return [['Moves', 'its bytes do not say what']]
  const verb = leavesAllowance(selector) ? 'Lets others take' : 'Sends'
  return moves.flatMap((move): Line[] =>
    move.token === 'native' ? [] : [[verb, amountInUnits(move, chainId, names)]],
  )
}

function payeeLines({ beneficiaries }: CallShown): Line[] {
  if (beneficiaries === null) return [['Payee', 'its bytes do not say who']]
  const [payee] = beneficiaries
  return payee === undefined ? [] : [['Payee', payee]]
}

function dataLines(data: Hex): Line[] {
  const known = KNOWN_FUNCTIONS.get(data.slice(0, SELECTOR_CHARS))
  const signature = known === undefined ? null : parseSignature(known.canonical)
  if (known === undefined || signature === null || !isWellFormed(data, signature)) {
    const bytes = (data.length - 2) / 2
    const shortened = data.length > RAW_CHARS_MAX ? `${data.slice(0, RAW_CHARS_MAX)}…` : data
    return [
      ['Function', 'unknown: approve it only if you know these bytes'],
      [`Calldata, ${bytes} bytes`, shortened],
    ]
  }
  const values = signature.argumentAt.map((at, index): Line => {
    const name = known.names[index] ?? `argument ${index}`
    const word = at === null ? null : (signature.head[at] ?? null)
    if (at === null || word === null) return [name, 'a list, text or bytes, not shown']
    return [name, String(wordValue(wordAt(data, at), word))]
  })
  return [['Function', known.canonical], ...values.slice(0, LINES_MAX)]
}

/** Parses a signature of the table: `name(type:reading name, (type name) name)`. */
function readSignature(text: string): KnownFunction {
  const open = text.indexOf('(')
  const parts = splitArguments(text.slice(open + 1, -1))
  return {
    canonical: text.replace(/, +/g, ',').replace(/:\w+/g, '').replace(/ \w+/g, ''),
    names: parts.map((part, index) => {
      const name = / (\w+)$/.exec(part)?.[1] ?? '_'
      return name === '_' ? `argument ${index}` : name
    }),
  }
}

/** Splits at commas outside brackets. */
function splitArguments(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const character of text) {
    if (character === '(') depth++
    if (character === ')') depth--
    if (character === ',' && depth === 0) {
      parts.push(part.trim())
      part = ''
    } else part += character
  }
  return part.trim() === '' ? parts : [...parts, part.trim()]
}
