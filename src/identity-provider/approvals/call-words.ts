import { CONTRACT_FUNCTIONS } from '../../contracts/functions/all-functions.js'
import type { ApprovalTerm } from '../../custody/approvals/approval-term.js'
import { chainFacts } from '../../domain/chains.js'
import type { Address, Hex } from '../../domain/ids.js'
import { formatUnits } from '../../domain/money.js'
import { type CallShown, NATIVE_ADDRESS, showCall, showIntent } from '../../policy/call-shown.js'
import { isWellFormed, SELECTOR_CHARS, wordAt, wordValue } from '../../policy/calldata-words.js'
import { parseSignature } from '../../policy/function-signature.js'
import { UINT256_MAX } from '../../policy/policy.js'
import { bigintOf } from '../../quorum-protocol/bytes.js'
import { decodeRouterIntent } from '../../quorum-protocol/router-intent.js'
import { toHex } from '../../quorum-protocol/transaction.js'

/** Name and value of each line; a value may be long, and is anybody's text. */
export type Line = readonly [name: string, value: string]

/** Native currency has as many on every chain that is supported. */
const NATIVE_DECIMALS = 18
/** Of calldata that no function is known for: enough to tell it by. */
const RAW_CHARS_MAX = 512
const LINES_MAX = 24

interface KnownFunction {
  /** As a compiler writes it, without names. */
  readonly canonical: string
  readonly names: readonly string[]
}

/** By selector. */
export const KNOWN_FUNCTIONS: ReadonlyMap<string, KnownFunction> = new Map(
  CONTRACT_FUNCTIONS.map(({ selector, signature }) => [`0x${selector}`, readSignature(signature)]),
)

/**
 * One call in words: what the bytes that are signed say, decoded here, and nothing that the service
 * says of them.
 * @param call calldata, or the encoded Router intent; its hash is the term's
 */
export function callInWords(term: ApprovalTerm, call: Uint8Array): Line[] {
  const chain = chainFacts(term.chainId)
  const native = chain?.nativeSymbol ?? 'native currency'
  const chainLine: Line = ['Chain', chain?.name ?? `chain ${term.chainId}`]
  const lines =
    term.kind === 'transaction'
      ? transactionLines(term, call, native)
      : intentLines(decodeRouterIntent(call), native)
  const gas = `${formatUnits(term.maxNativeWei, NATIVE_DECIMALS)} ${native} at the most`
  const fee: Line = ['Network fee', term.kind === 'transaction' ? gas : 'paid by the service']
  return [...lines, chainLine, fee]
}

/** Whether the bytes of a transaction say whom it pays. */
export function saysWhomItPays({ chainId, value, to }: ApprovalTerm, call: Uint8Array): boolean {
  const shown = { operation: 'send', chainId, to: toHex(to), value, data: toHex(call) } as const
  return showCall(shown).beneficiaries !== null
}

function transactionLines(term: ApprovalTerm, call: Uint8Array, native: string): Line[] {
  const { chainId, value } = term
  const to = toHex(term.to)
  const data = toHex(call)
  const shown = showCall({ operation: 'send', chainId, to, value, data })
  const sent: Line[] =
    value > 0n ? [['Sends', `${formatUnits(value, NATIVE_DECIMALS)} ${native}`]] : []
  if (call.length === 0) return [...sent, ['To', to]]
  return [...movedLines(shown), ...sent, ...payeeLines(shown), ['Contract', to], ...dataLines(data)]
}

function intentLines(intent: ReturnType<typeof decodeRouterIntent>, native: string): Line[] {
  const amountIn = bigintOf(intent.amountIn)
  const [tokenIn, tokenOut] = [toHex(intent.tokenIn), toHex(intent.tokenOut)]
  const target = toHex(intent.target)
  const data = toHex(intent.data)
  const shown = showIntent(null, intent.chainId, { tokenIn, amountIn, target, data })
  const asset = (token: Address, amount: bigint) =>
    token === NATIVE_ADDRESS
      ? `${formatUnits(amount, NATIVE_DECIMALS)} ${native}`
      : `${amount} smallest units of ${token}`
  return [
    ['Gives', asset(tokenIn as Address, amountIn)],
    ['For at least', asset(tokenOut as Address, bigintOf(intent.minOut))],
    ['Fee', `${intent.feeBps / 100} % of what it gives`],
    ['Venue', shown.callee],
    ...dataLines(shown.data),
  ]
}

/** Tokens that leave, or that others may take. */
function movedLines({ moves, selector }: CallShown): Line[] {
  if (moves === null) return [['Moves', 'its bytes do not say what']]
  const verb = selector !== null && isAllowance(selector) ? 'Lets others take' : 'Sends'
  return moves.flatMap(({ token, amount }): Line[] => {
    if (token === 'native') return []
    const units = amount === UINT256_MAX ? 'everything there is' : `${amount} smallest units`
    return [[verb, `${units} of the token ${token}`]]
  })
}

function isAllowance(selector: string): boolean {
  const name = KNOWN_FUNCTIONS.get(selector)?.canonical ?? ''
  return /^(approve|increaseAllowance|permit)\(/.test(name)
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

/** Of a row of the table: `name(type:reading name, (type name) name)`. */
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

/** At the commas that are in no brackets. */
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
