import type { AuditRecord } from '../../domain/audit.js'
import { CATALOGUE, type ErrorCode } from '../../errors/catalogue.js'

type Said = Readonly<Record<string, unknown>>

/** Describes a refusal in the audit trail to a person: the code's sentence, and its figures. */
export function describeRefusal({ code, reasons }: AuditRecord['details']): string {
  const sentence = sentenceOf(String(code))
  const figures = figuresOf(String(code), isRecord(reasons) ? reasons : {})
  return figures === null ? sentence : `${sentence} ${figures}`
}

/** The catalogue's sentence; the code itself if an older build wrote one that is unknown here. */
export function sentenceOf(code: string): string {
  return Object.hasOwn(CATALOGUE, code) ? CATALOGUE[code as ErrorCode].message : code
}

/** The fields that a text needs. If a refusal lacks some, the code's sentence is used. */
const FIGURES: Readonly<
  Record<string, { readonly needs: readonly string[]; readonly say: (said: Said) => string }>
> = {
  LIMIT_EXCEEDED: {
    needs: ['period', 'limit_usd', 'used_usd', 'requested_usd'],
    say: (said) =>
      `$${said.used_usd} of the ${said.period} $${said.limit_usd} was used, and the call asked for $${said.requested_usd}.`,
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
    say: (said) => `The ${said.scope} has been frozen since ${said.since}.`,
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
