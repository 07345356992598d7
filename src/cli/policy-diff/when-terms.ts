import { type ArgumentValue, OPERATIONS, type Token } from '../../policy/call-terms.js'
import type { ArgumentTest } from '../../policy/conditions/arguments.js'
import {
  CONDITION_FIELDS,
  type ConditionField,
  type Conditions,
} from '../../policy/conditions/index.js'
import { parseSignature, type Word } from '../../policy/function-signature.js'
import { usedName } from '../../policy/judged-call.js'
import type { Policy, When } from '../../policy/policy.js'
import { type Hours, WEEKDAYS } from '../../policy/utc-hours.js'
import {
  CALLEE,
  type CallShape,
  CHAIN,
  givesOneOf,
  type MovedTerm,
  mixesNative,
  movesOf,
  OPERATION,
  paidBy,
  VALUE,
  wordName,
} from './call-shape.js'
import {
  and,
  atMost,
  below,
  equal,
  FALSE,
  int,
  isIn,
  not,
  or,
  sum,
  type Term,
  TRUE,
} from './smt.js'

/** The value of a condition: it holds, it fails, or, when neither, it cannot be judged. */
export interface Truth {
  readonly holds: Term
  readonly fails: Term
}

const UNJUDGEABLE: Truth = { holds: FALSE, fails: FALSE }
const DAY_MINUTES = 1_440
const WEEK_MINUTES = 7 * DAY_MINUTES

export const SPEND = 'spend'
export const IS_UNPRICED = 'unpriced'
/** A sponsored call's loss of value, in basis points. */
export const LOSS = 'loss_bps'
/** Minutes since Monday, UTC. */
export const MINUTE = 'minute'

export function countName(perSeconds: number): Term {
  return `count${perSeconds}`
}

export function sumName(perSeconds: number): Term {
  return `usd${perSeconds}`
}

type Terms = {
  readonly [Field in ConditionField]: (
    value: NonNullable<Conditions[Field]>,
    shape: CallShape,
    conditions: Conditions,
  ) => Truth
}

/** The terms of each condition. A condition without terms does not compile. */
const TERMS: Terms = {
  operations: (names) => {
    const places = names.map((one) => OPERATIONS.indexOf(one))
    return known(isIn(OPERATION, places))
  },
  chains: (ids) => known(isIn(CHAIN, ids)),
  to: (to) => known(isIn(CALLEE, to.map(BigInt))),
  functions: functionsTruth,
  arguments: (tests, shape, { functions }) => argumentsTruth(functions?.[0] ?? '', tests, shape),
  beneficiaries: (listed, shape) => beneficiariesTruth(listed.map(BigInt), shape),
  newBeneficiary: newBeneficiaryTruth,
  valueNativeLte: (bound) => known(atMost(VALUE, int(bound))),
  valueNativeGt: (bound) => known(below(int(bound), VALUE)),
  amounts: amountsTruth,
  spendUsdLte: (bound) => priced(atMost(SPEND, int(bound))),
  spendUsdGt: (bound) => priced(below(int(bound), SPEND)),
  count: ({ perSeconds, gt }) => known(atMost(int(gt), countName(perSeconds))),
  sumUsd: ({ perSeconds, gt }) => priced(below(int(gt), sum(sumName(perSeconds), SPEND))),
  tokenOut: tokenOutTruth,
  utcHours: (hours) => known(hoursTerm(hours)),
}

/** Combines all conditions of a rule, as `testAll` does. */
export function whenTruth(when: When, shape: CallShape): Truth {
  const parts = CONDITION_FIELDS.flatMap((field) => truthOf(field, when, shape))
  if (when.not !== undefined) parts.push(opposite(whenTruth(when.not, shape)))
  return {
    holds: and(...parts.map(({ holds }) => holds)),
    fails: or(...parts.map(({ fails }) => fails)),
  }
}

function truthOf<Field extends ConditionField>(
  field: Field,
  conditions: Conditions,
  shape: CallShape,
): Truth[] {
  const value = conditions[field]
  return value === undefined ? [] : [TERMS[field](value, shape, conditions)]
}

function known(holds: Term): Truth {
  return { holds, fails: not(holds) }
}

/** Conditions that cannot be judged without a price. */
function priced(holds: Term): Truth {
  return judgedWhere(not(IS_UNPRICED), known(holds))
}

function judgedWhere(isJudged: Term, { holds, fails }: Truth): Truth {
  return { holds: and(isJudged, holds), fails: and(isJudged, fails) }
}

function opposite({ holds, fails }: Truth): Truth {
  return { holds: fails, fails: holds }
}

function functionsTruth(
  functions: readonly string[],
  { selector, signatureText }: CallShape,
): Truth {
  if (selector === null) return UNJUDGEABLE
  const signatures = functions.filter((one) => parseSignature(one)?.selector === selector)
  if (functions.includes(selector)) return known(TRUE)
  if (signatures.length === 0) return known(FALSE)
  return signatures.some((one) => one === signatureText) ? known(TRUE) : UNJUDGEABLE
}

/** Combines arguments in the judge's order: the first that does not hold decides. */
function argumentsTruth(
  name: string,
  tests: readonly ArgumentTest[],
  { signature, signatureText }: CallShape,
): Truth {
  if (signature === null || signatureText !== name) return UNJUDGEABLE
  const { argumentAt, head } = signature
  return tests
    .map((test): Truth => {
      const at = argumentAt[test.index] ?? null
      const word = at === null ? null : (head[at] ?? null)
      return at === null || word === null ? UNJUDGEABLE : argumentTruth(test, wordName(at), word)
    })
    .reduceRight(
      (rest, first) => ({
        holds: and(first.holds, rest.holds),
        fails: or(first.fails, and(first.holds, rest.fails)),
      }),
      known(TRUE),
    )
}

function argumentTruth(test: ArgumentTest, name: Term, word: Word): Truth {
  if (test.op === 'eq' || test.op === 'in') {
    const values = test.op === 'in' ? test.value : [test.value]
    return known(
      isIn(
        name,
        values.flatMap((value) => numberOf(value, word) ?? []),
      ),
    )
  }
  if (word.kind !== 'uint' && word.kind !== 'int') return UNJUDGEABLE
  const bound = int(BigInt(String(test.value)))
  return known(test.op === 'lte' ? atMost(name, bound) : atMost(bound, name))
}

/** Null when no such word has this value. */
function numberOf(value: ArgumentValue, word: Word): bigint | null {
  if (word.kind === 'bool') return typeof value === 'boolean' ? BigInt(value) : null
  if (typeof value !== 'string') return null
  const isWhole = word.kind !== 'bytes' || value.length === 2 + 2 * word.size
  return isWhole ? BigInt(value) : null
}

function beneficiariesTruth(listed: readonly bigint[], shape: CallShape): Truth {
  const paid = paidBy(shape)
  if (paid === null) return UNJUDGEABLE
  const each = (isRight: (address: Term) => Term) =>
    and(...paid.map(({ isThere, address }) => or(not(isThere), isRight(address))))
  const all = each((address) => isIn(address, listed))
  const none = each((address) => not(isIn(address, listed)))
  return judgedWhere(or(all, none), known(all))
}

function newBeneficiaryTruth(isNew: boolean, shape: CallShape): Truth {
  const paid = paidBy(shape)
  if (paid === null) return UNJUDGEABLE
  const pays = or(...paid.map(({ isThere, isKnown }) => and(isThere, not(isKnown))))
  return known(isNew ? pays : not(pays))
}

function amountsTruth(tests: NonNullable<When['amounts']>, shape: CallShape): Truth {
  const moves = movesOf(shape)
  if (moves === null) return UNJUDGEABLE
  const meets = tests.flatMap(({ token, lte, gt }) =>
    moves.map((move) => ({
      isListed: and(move.isThere, isOfToken(move, token)),
      breaks: or(
        lte === null ? FALSE : below(int(lte), move.amount),
        gt === null ? FALSE : atMost(move.amount, int(gt)),
      ),
    })),
  )
  const someBreak = or(...meets.map(({ isListed, breaks }) => and(isListed, breaks)))
  const someKeep = or(...meets.map(({ isListed, breaks }) => and(isListed, not(breaks))))
  const listsNative = tests.some(({ token }) => token === 'native')
  return judgedWhere(listsNative ? TRUE : not(mixesNative(shape)), {
    holds: and(someKeep, not(someBreak)),
    fails: not(someKeep),
  })
}

function isOfToken({ token: moved }: MovedTerm, token: Token): Term {
  if (token === 'native') return moved === null ? TRUE : FALSE
  return moved === null ? FALSE : equal(moved, int(BigInt(token)))
}

function tokenOutTruth(tokens: readonly Token[], shape: CallShape): Truth {
  const holds = givesOneOf(shape, tokens)
  return holds === null ? UNJUDGEABLE : known(holds)
}

function hoursTerm(hours: readonly Hours[]): Term {
  const within = (from: number, to: number) =>
    and(atMost(int(from), MINUTE), below(MINUTE, int(to)))
  return or(
    ...hours.flatMap(({ days, fromMinute, toMinute }) =>
      days.map((day) => {
        const midnight = WEEKDAYS.indexOf(day) * DAY_MINUTES
        const from = midnight + fromMinute
        if (fromMinute < toMinute) return within(from, midnight + toMinute)
        const to = midnight + DAY_MINUTES + toMinute
        // Sunday's night continues on Monday's morning.
        return or(within(from, Math.min(to, WEEK_MINUTES)), within(0, to - WEEK_MINUTES))
      }),
    ),
  )
}

/** Tells whether the call exceeds a ceiling, regardless of the rules. */
export function ceilingsTerm({ ceilings }: Policy, shape: CallShape): Term {
  const moves = movesOf(shape)
  return or(
    ...ceilings.map((ceiling) => {
      const isHere = equal(CHAIN, int(ceiling.chainId))
      if (moves === null) return isHere
      const passes = moves.map((move) =>
        and(
          ...[move.isThere, isOfToken(move, ceiling.token), below('0', move.amount)],
          below(int(ceiling.amount), sum(usedName(ceiling), move.amount)),
        ),
      )
      return and(isHere, or(...passes))
    }),
  )
}
