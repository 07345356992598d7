import type { Confirmable } from '../../custody/authorizers/confirmable.js'
import type { ChangedLine } from '../../custody/authorizers/describe-grant-change.js'
import { escapeHtml } from '../../domain/escape-html.js'
import { findExamples } from '../../policy/example-search.js'
import {
  describeCall,
  describeCircumstances,
  describeJudgement,
} from '../../policy/example-words.js'
import type { Example, Judgement } from '../../policy/judged-call.js'
import type { Policy } from '../../policy/policy.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { rowHtml, scriptedPage, timeLeft, valueHtml } from './pages.js'
import { base64Url } from './wire.js'

/** The names of key and wallet. The service supplies them, and they are not signed. */
export interface ShownNames {
  readonly key: string | null
  readonly wallet: string | null
}

export interface ConfirmPage {
  readonly email: string
  readonly rpId: string
  readonly signInPath: string
  readonly asked: Confirmable
  readonly names: ShownNames
  /**
   * The lines that change for an existing key or member; null for a new one, and for other
   * subjects.
   */
  readonly change: readonly ChangedLine[] | null
  /** The policy of an existing key before and after the change; null when it does not change. */
  readonly policies: { readonly before: Policy | null; readonly next: Policy | null } | null
  readonly nowMs: number
}

const CONFIRM_WORDS = {
  grant: { title: 'Confirm a grant', heading: 'Confirm what this API key may do' },
  approval: { title: 'Approve a call', heading: 'Approve this one call' },
  unfreeze: { title: 'Lift a freeze', heading: 'Confirm that signing goes on' },
  member: { title: 'Confirm a member', heading: 'Confirm what a person may do' },
  join: { title: 'Accept an invitation', heading: 'Join this account' },
} as const satisfies Record<Confirmable['kind'], object>

export function confirmPage(page: ConfirmPage): string {
  const { kind, encoded, message, confirmBeforeMs } = page.asked
  const { title, heading } = CONFIRM_WORDS[kind]
  return scriptedPage(
    title,
    {
      'rp-id': page.rpId,
      'sign-in': page.signInPath,
      grant: base64Url(encoded),
      challenge: base64Url(sha256(message)),
    },
    `<h1>${heading}</h1>
<p>Signed in as ${escapeHtml(page.email)}. Confirm it only if you asked for it just now.</p>
${timeLeft(confirmBeforeMs, page.nowMs)}
${whatHtml(page)}
${page.policies === null ? '' : examplesHtml(page.policies)}
<button type="button" id="confirm">Confirm with a passkey</button>
<button type="button" class="plain" data-close>Close without confirming</button>`,
  )
}

function whatHtml({ asked, names, change }: ConfirmPage): string {
  const { lines } = asked
  if (asked.kind !== 'grant') {
    const rows = change ?? lines.map(([name, value]) => ({ name, value, before: null }))
    return listOf(
      rows.map(({ name, value, before }) =>
        before === null ? rowHtml([name, value]) : changedRow(name, before, value),
      ),
    )
  }
  // Key and wallet come first.
  const of = [namedRow(lines[0], names.key), namedRow(lines[1], names.wallet)]
  // A change without visible differences is shown in full: there is a reason for the request.
  if (change === null || change.every(({ before }) => before === null)) {
    return listOf([...of, ...lines.slice(2).map(rowHtml)])
  }
  const rest = change.slice(2)
  const changed = rest.flatMap(({ name, value, before }) =>
    before === null ? [] : [changedRow(name, before, value)],
  )
  const kept = rest.filter(({ before }) => before === null)
  return `${listOf(of)}
<h2>Changes</h2>
${listOf(changed)}
<details><summary>Stays as it is</summary>${listOf(kept.map(({ name, value }) => rowHtml([name, value])))}</details>`
}

/** Shows example calls that the new policy allows and the old one did not. */
function examplesHtml({ before, next }: NonNullable<ConfirmPage['policies']>): string {
  const { examples, isNarrower } = findExamples(before, next)
  // This compares only the rules: caps, chains and expiry have lines of their own.
  if (isNarrower) return '<p>The rules for single calls get no wider.</p>'
  if (examples.length === 0) {
    return `<p>These rules may let calls through that those before did not. A short search found no example; there may still be one.</p>`
  }
  const items = examples.map((example) => `<li>${exampleHtml(example)}</li>`)
  return `<h2>For example</h2>
<p>Calls that these rules let through and those before did not. There may be others, and graver ones.</p>
<ul class="examples">${items.join('\n')}</ul>`
}

function exampleHtml(example: Example): string {
  const { call, circumstances, before, next } = example
  const judged = `${judgementHtml(before)} before, ${judgementHtml(next)} now`
  const words = `<b>${judged}</b><br>${valueHtml(describeCall(call))}`
  return `${words}<br><small>${valueHtml(describeCircumstances(circumstances))}</small>`
}

/** A rule's name is anyone's text in any script, so it is set apart from the page's own words. */
function judgementHtml(judged: Judgement): string {
  return `${valueHtml(describeJudgement(judged))} by <code><bdi>${escapeHtml(judged.by)}</bdi></code>`
}

function listOf(rows: readonly string[]): string {
  return `<dl>${rows.join('\n')}</dl>`
}

/** Shows the name, with the signed id in small type. */
function namedRow(line: Confirmable['lines'][number] | undefined, name: string | null): string {
  if (line === undefined) return ''
  if (name === null) return rowHtml(line)
  const [title, value] = line
  const named = `<b><bdi>${escapeHtml(name)}</bdi></b> <small>name from the service</small>`
  return `<div><dt>${escapeHtml(title)}</dt><dd>${named}<br>${valueHtml(value)}</dd></div>`
}

function changedRow(name: string, before: string, value: string): string {
  const change = `<del>${valueHtml(before)}</del> <span aria-hidden="true">→</span> <ins>${valueHtml(value)}</ins>`
  return `<div><dt>${escapeHtml(name)}</dt><dd>${change}</dd></div>`
}
