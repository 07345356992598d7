import type { AuditRecord } from '../../domain/audit.js'
import { CATALOGUE, type ErrorCode } from '../../errors/catalogue.js'

type Said = Readonly<Record<string, unknown>>

/** What a refusal of the audit trail says to a person: the code's sentence, and its figures. */
export function refusalInWords({ code, reasons }: AuditRecord['details']): string {
  const sentence = sentenceOf(String(code))
  const figures = figuresOf(String(code), isRecord(reasons) ? reasons : {})
  return figures === null ? sentence : `${sentence} ${figures}`
}

/** The sentence of the catalogue; the code itself where an older build wrote another. */
export function sentenceOf(code: string): string {
  return Object.hasOwn(CATALOGUE, code) ? CATALOGUE[code as ErrorCode].message : code
}

/** What the words need; of a refusal that lacks some of it the code's sentence says enough. */
const FIGURES: Readonly<
  Record<string, { readonly needs: readonly string[]; readonly say: (said: Said) => string }>
> = {
  LIMIT_EXCEEDED: {
    needs: ['period', 'limit_usd', 'used_usd', 'requested_usd'],
    say: (said) =>
      `Of the ${said.period} $${said.limit_usd}, $${said.used_usd} was used, and $${said.requested_usd} was asked for.`,
  },
  POLICY_DENIED: {
    needs: ['rule', 'field', 'observed', 'permitted'],
    say: (said) => `By ${said.rule}: ${said.field} was ${said.observed}, not ${said.permitted}.`,
  },
  ADDRESS_BLOCKED: {
    needs: ['address', 'list'],
    say: (said) => `It is ${said.address}, on ${said.list}.`,
  },
  FROZEN: {
    needs: ['scope', 'since'],
    say: (said) => `Frozen is the ${said.scope}, since ${said.since}.`,
  },
}

function figuresOf(code: string, said: Said): string | null {
  const { reason } = said
  const known = Object.hasOwn(FIGURES, code) ? FIGURES[code] : undefined
  const isSaid = known?.needs.every((name) => said[name] !== undefined && said[name] !== null)
  const figures = isSaid === true && known !== undefined ? [known.say(said)] : []
  if (typeof reason === 'string' && reason !== '') figures.push(`Reason: ${reason}.`)
  return figures.length === 0 ? null : figures.join(' ')
}

function isRecord(value: unknown): value is Said {
  return typeof value === 'object' && value !== null
}
