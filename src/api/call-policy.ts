import { z } from 'zod'
import type { CallPolicy } from '../domain/key-policy-forms.js'
import { BREAKERS_MAX, CEILINGS_MAX, RULES_MAX } from '../policy/bounds.js'
import { OPERATIONS } from '../policy/call-terms.js'
import { CONDITION_FIELDS, CONDITIONS } from '../policy/conditions/index.js'
import { describeRule } from '../policy/describe-policy.js'
import { parsePolicy } from '../policy/parse-policy.js'
import { EFFECTS, type Policy } from '../policy/policy.js'
import { AMOUNT, optional, PER_SECONDS, TOKEN, USD } from '../policy/wire-form.js'
import { address as callAddress, calldata, chainId, weiAmount } from './primitives.js'
import { schemaOf } from './wire-form-schema.js'

/**
 * A policy on the wire. The shape here is for documents and programs; `src/policy` validates it,
 * with a path for each fault.
 */

const token = schemaOf(TOKEN)
const amount = schemaOf(AMOUNT)
const usd = schemaOf(USD)
const perSeconds = schemaOf(PER_SECONDS)

const SWAP_LOSS_WORDS =
  'how much of its worth a swap, deposit, withdrawal or gas swap may lose by our prices, basis points, 0 to 10,000; null: not bounded; absent: 500'

const conditions = Object.fromEntries(
  CONDITION_FIELDS.map((field) => {
    const { wire, form } = CONDITIONS[field]
    return [wire, schemaOf(optional(form))]
  }),
)

const when = z
  .strictObject({
    ...conditions,
    not: z
      .strictObject(conditions)
      .optional()
      .describe('none of these may hold: one nested `when`'),
  })
  .describe('all conditions must hold')

const rule = z.strictObject({
  name: z.string(),
  effect: z.enum(EFFECTS),
  when: when.optional(),
  approvals: z
    .strictObject({ needed: z.number().optional(), expires_seconds: z.number().optional() })
    .optional(),
  delay_seconds: z.number().optional(),
})

const ceiling = z.strictObject({ chain_id: chainId, token, per: z.enum(['day', 'month']), amount })

const policy = z.strictObject({
  per_transaction_usd: usd.nullable().optional(),
  max_swap_loss_bps: z.number().nullable().optional().describe(SWAP_LOSS_WORDS),
  rules: z.array(rule).max(RULES_MAX).optional(),
  default: z.enum(EFFECTS).describe('effect if no rule matches'),
  ceilings: z.array(ceiling).max(CEILINGS_MAX).optional(),
  breakers: z
    .array(
      z.strictObject({
        kind: z.enum(['refusals', 'new_beneficiaries', 'spend_factor']),
        count: z.number().optional(),
        factor: z.number().optional(),
        per_seconds: perSeconds,
      }),
    )
    .max(BREAKERS_MAX)
    .optional(),
})

/** Used in requests. Null means no policy: any call within the caps. */
export const callPolicyInput = policy
  .superRefine((value, context) => {
    const parsed = parsePolicy(value)
    if (parsed.ok) return
    for (const { path, message } of parsed.faults) {
      context.addIssue({ code: 'custom', message, path: path === '' ? [] : partsOf(path) })
    }
  })
  .nullable()
  .describe(
    'which single calls the key may make: deny wins, then require_approval, then allow; a breaker freezes the key; what requires approval, or a delay, waits for it',
  )

/** As it is signed: canonical, with addresses in lower case. */
export const callPolicyOutput = z
  .looseObject({
    per_transaction_usd: z.string().nullable(),
    max_swap_loss_bps: z.number().nullable().optional().describe(SWAP_LOSS_WORDS),
    rules: z.array(z.looseObject({ name: z.string(), effect: z.enum(EFFECTS) })),
    default: z.enum(EFFECTS),
    ceilings: z.array(z.looseObject({ amount: z.string() })),
    breakers: z.array(z.looseObject({ kind: z.string() })),
  })
  .nullable()
  .describe('in canonical form, as the approver device signs it; null: no policy')

/** What an agent sees of its limits. */
export const policyLimits = z
  .looseObject({
    per_transaction_usd: z.string().nullable(),
    max_swap_loss_bps: z.int().nullable(),
    default: z.enum(EFFECTS),
    rules: z.array(
      z.looseObject({ name: z.string(), effect: z.enum(EFFECTS), in_words: z.string() }),
    ),
    ceilings: z.array(
      z.looseObject({
        chain_id: z.number(),
        token: z.string(),
        per: z.enum(['day', 'month']),
        amount: z.string(),
        used: z.string(),
        resets_at: z.string(),
      }),
    ),
  })
  .nullable()
  .describe("what the key's policy allows; null: any call within the caps")

export function describeRules({ rules }: Policy) {
  return rules.map((one) => ({
    name: one.name,
    effect: one.effect,
    in_words: describeRule(one),
  }))
}

/** `rules[0].when.to[1]` */
function partsOf(path: string): (string | number)[] {
  return path
    .split(/[.[\]]/)
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))
}

/** Each call is judged separately, as if it came now. */
const TESTED_CALLS_MAX = 100

export const testPolicyInput = z.strictObject({
  key_id: z.string().max(64),
  policy: (callPolicyInput as z.ZodType<ReturnType<CallPolicy['toWire']>>)
    .optional()
    .describe("the key's policy by default"),
  calls: z
    .array(
      z.strictObject({
        operation: z.enum(OPERATIONS),
        chain_id: chainId,
        to: callAddress,
        data: calldata.optional(),
        value: weiAmount.optional(),
        token_out: callAddress
          .optional()
          .describe('what a swap or a withdrawal gives; 0xEeee…EEeE means the native currency'),
      }),
    )
    .min(1)
    .max(TESTED_CALLS_MAX),
})

export const policyVerdicts = z.looseObject({
  verdicts: z.array(
    z.looseObject({
      effect: z.enum(EFFECTS),
      rule: z
        .string()
        .nullable()
        .describe('the rule that decides, or default, per_transaction_usd, ceilings'),
      reasons: z.array(z.string()).describe('how each rule judges the call'),
    }),
  ),
})

/**
 * Used by a backtest, which then covers the whole history in one answer, because what a policy
 * counts would not fit a cursor.
 */
export const callPolicyBacktested = (
  callPolicyInput as z.ZodType<ReturnType<CallPolicy['toWire']>>
).describe('past sends are also judged by this, all in one answer')
