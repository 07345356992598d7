import type { CallShown } from './call-shown.js'
import { isClean, isWellFormed, wordAt, wordValue } from './calldata-words.js'
import {
  CANNOT_BE_JUDGED,
  type Condition,
  HOLDS,
  listText,
  type Truth,
  truth,
  UNJUDGEABLE,
  values,
} from './condition.js'
import { type FunctionSignature, parseSignature, type Word } from './function-signature.js'
import type { ArgumentTest, ArgumentValue, CalledFunction } from './policy.js'

/** Conditions over the arguments of one named function. In a call of another one they are unknown. */
export function argumentsCondition(
  name: CalledFunction,
  tests: readonly ArgumentTest[],
): Condition {
  const signature = parseSignature(name)
  const compiled = tests.map((test) => compileArgument(signature, test))
  const read = ({ data, selector }: CallShown): FunctionSignature | null =>
    signature !== null && selector === signature.selector && isWellFormed(data, signature)
      ? signature
      : null
  return {
    field: 'arguments',
    ...values(tests.map(argumentText).join(', ')),
    heals: null,
    test(call) {
      if (read(call) === null) return UNJUDGEABLE
      for (const one of compiled) {
        const result = one(call)
        if (result !== HOLDS) return result
      }
      return HOLDS
    },
    observed(call) {
      const known = read(call)
      if (known === null) return CANNOT_BE_JUDGED
      return tests
        .map(({ index }) => {
          const at = known.argumentAt[index] ?? 0
          const word = known.head[at] ?? null
          const value = word === null ? CANNOT_BE_JUDGED : wordValue(wordAt(call.data, at), word)
          return `argument ${index} is ${value}`
        })
        .join(', ')
    },
  }
}

type ArgumentJudge = (call: CallShown) => Truth

function compileArgument(signature: FunctionSignature | null, test: ArgumentTest): ArgumentJudge {
  const at = signature?.argumentAt[test.index] ?? null
  const word = at === null ? null : (signature?.head[at] ?? null)
  if (at === null || word === null) return () => UNJUDGEABLE
  const values = (test.op === 'in' ? test.value : [test.value]).map((value) => native(value, word))
  const [bound] = values
  const set = new Set(values)
  return ({ data }) => {
    if (!isClean(data, at, word)) return UNJUDGEABLE
    const value = wordValue(wordAt(data, at), word)
    if (test.op === 'eq' || test.op === 'in') return truth(set.has(value))
    if (typeof value !== 'bigint' || typeof bound !== 'bigint') return UNJUDGEABLE
    return truth(test.op === 'lte' ? value <= bound : value >= bound)
  }
}

function native(value: ArgumentValue, word: Word): string | boolean | bigint {
  const isNumber = word.kind === 'uint' || word.kind === 'int'
  return isNumber && typeof value === 'string' ? BigInt(value) : value
}

function argumentText({ index, op, value }: ArgumentTest): string {
  const text = typeof value === 'object' ? listText(value) : String(value)
  return `argument ${index} ${op} ${text}`
}
