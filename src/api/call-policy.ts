import { z } from 'zod'
import type { CallPolicy } from '../domain/key-policy-forms.js'
import { ruleInWords } from '../policy/in-words.js'
import { parsePolicy } from '../policy/parse-policy.js'
import {
  BREAKERS_MAX,
  CEILINGS_MAX,
  EFFECTS,
  OPERATIONS,
  type Policy,
  RULES_MAX,
  WEEKDAYS,
} from '../policy/policy.js'
import { address as callAddress, calldata, chainId, weiAmount } from './primitives.js'

/**
 * A policy on the wire. The shape is here for documents and programs; what makes a policy of it,
 * `src/policy` says, with a path for each fault.
 */

const address = z.string().describe('an address, in any case')
const token = z.string().describe('an address, or "native"')
const amount = z.string().describe('smallest units, a decimal string')
const wei = z.string().describe('wei, a decimal string')
const usd = z.string().describe('USD, a decimal string')
const perSeconds = z.number().describe('a sliding time, seconds, up to 31 days')

const conditions = {
  operations: z.array(z.enum(OPERATIONS)).optional(),
  chains: z.array(z.number()).optional(),
  to: z.array(address).optional().describe('callees; of a sponsored call the venue'),
  functions: z
    .array(z.string())
    .optional()
    .describe('"transfer(address,uint256)", a 4-byte selector, or "native" for empty calldata'),
  arguments: z
    .array(
      z.strictObject({
        index: z.number(),
        op: z.enum(['eq', 'in', 'lte', 'gte']),
        value: z.union([z.string(), z.boolean(), z.array(z.union([z.string(), z.boolean()]))]),
      }),
    )
    .optional()
    .describe('of the one function that `functions` names by its signature'),
  beneficiaries: z.array(address).optional().describe('everybody who is paid is one of these'),
  value_native_lte: wei.optional(),
  value_native_gt: wei.optional(),
  amounts: z
    .array(z.strictObject({ token, lte: amount.optional(), gt: amount.optional() }))
    .optional()
    .describe('of a transfer or an approval of a listed token'),
  spend_usd_lte: usd.optional(),
  spend_usd_gt: usd.optional(),
  new_beneficiary: z.boolean().optional().describe('true: not paid by this sub-wallet before'),
  count: z
    .strictObject({ per_seconds: perSeconds, gt: z.number() })
    .optional()
    .describe('calls of the key, this one included'),
  sum_usd: z
    .strictObject({ per_seconds: perSeconds, gt: usd })
    .optional()
    .describe('what they spend, this one included'),
  utc_hours: z
    .array(
      z.strictObject({
        days: z.array(z.enum(WEEKDAYS)).optional(),
        from: z.string().describe('"08:00"'),
        to: z.string().describe('"18:00"; before `from` it is of the next day'),
      }),
    )
    .optional(),
}

const when = z
  .strictObject({
    ...conditions,
    not: z.strictObject(conditions).optional().describe('none of this: one nested `when`'),
  })
  .describe('all that is there must hold')

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
  rules: z.array(rule).max(RULES_MAX).optional(),
  default: z.enum(EFFECTS).describe('where no rule matches'),
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

/** Of a request. Null is no policy: any call within the caps. */
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
    rules: z.array(z.looseObject({ name: z.string(), effect: z.enum(EFFECTS) })),
    default: z.enum(EFFECTS),
    ceilings: z.array(z.looseObject({ amount: z.string() })),
    breakers: z.array(z.looseObject({ kind: z.string() })),
  })
  .nullable()
  .describe('in canonical form, as the authorizer signs it; null: none')

/** What an agent sees of its limits. */
export const policyLimits = z
  .looseObject({
    per_transaction_usd: z.string().nullable(),
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
  .describe('what the policy of the key lets through; null: any call within the caps')

export function rulesInWords({ rules }: Policy) {
  return rules.map((one) => ({
    name: one.name,
    effect: one.effect,
    in_words: ruleInWords(one),
  }))
}

/** `rules[0].when.to[1]` */
function partsOf(path: string): (string | number)[] {
  return path
    .split(/[.[\]]/)
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))
}

/** Each is judged on its own, as if it came now. */
const TESTED_CALLS_MAX = 100

export const testPolicyInput = z.strictObject({
  key_id: z.string().max(64),
  policy: (callPolicyInput as z.ZodType<ReturnType<CallPolicy['toWire']>>)
    .optional()
    .describe("without it the key's own is tested"),
  calls: z
    .array(
      z.strictObject({
        operation: z.enum(OPERATIONS),
        chain_id: chainId,
        to: callAddress,
        data: calldata.optional(),
        value: weiAmount.optional(),
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
      reasons: z.array(z.string()).describe('what each rule makes of the call'),
    }),
  ),
})

/**
 * Of a backtest, which then looks at the whole history in one answer: what a policy counts would
 * not fit a cursor.
 */
export const callPolicyBacktested = (
  callPolicyInput as z.ZodType<ReturnType<CallPolicy['toWire']>>
).describe('past sends are put before this as well, all of them in one answer')
