import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type {
  AccountCommand,
  AccountEffect,
  AccountEvent,
} from '../../actors/account/core/messages.js'
import type { Command, Effect, Event } from '../../actors/sub-wallet/core/messages.js'

/**
 * The tables of commands, events and effects in the READMEs of the account and of the sub-wallet.
 * The lists here are held to the unions by the compiler, and the tables to the lists.
 */

type Names<Union extends string> = Readonly<Record<Union, true>>

const ACCOUNT_COMMANDS: Names<AccountCommand['type'] | 'unmined' | 'end-read'> = {
  signed: true,
  'sign-failed': true,
  'nonce-taken': true,
  'broadcast-outcome': true,
  mined: true,
  confirmed: true,
  unmined: true,
  'end-read': true,
  head: true,
  'replacement-signed': true,
  'replacement-failed': true,
}

const ACCOUNT_EVENTS: Names<AccountEvent['type']> = {
  released: true,
  queued: true,
  'lined-up': true,
  'nonce-assigned': true,
  'signature-held': true,
  'signature-failed': true,
  'lane-resequenced': true,
  sending: true,
  indeterminate: true,
  'refusal-disputed': true,
  'loss-disputed': true,
  underpriced: true,
  'sent-again': true,
  'ages-from': true,
  'nonce-lost': true,
  answered: true,
  replacing: true,
  'reading-end': true,
  'final-block': true,
  'lane-synced': true,
  'gaps-found': true,
  'transaction-renonced': true,
  'transaction-broadcast': true,
  'transaction-mined': true,
  'transaction-unmined': true,
  'transaction-replaced': true,
}

const ACCOUNT_EFFECTS: Names<AccountEffect['type']> = {
  broadcast: true,
  watch: true,
  unwatch: true,
  'give-up': true,
  'read-end': true,
}

const OWN_COMMANDS: Names<Exclude<Command['type'], AccountCommand['type']>> = {
  'create-wallet': true,
  'register-key': true,
  'plan-sub-key': true,
  'rotate-key': true,
  'revoke-key': true,
  'patch-key': true,
  'claim-grant': true,
  'end-claim': true,
  'await-grant': true,
  'grant-answered': true,
  'grants-rested': true,
  'cancel-transaction': true,
  'read-limits': true,
  'read-gas': true,
  send: true,
  'prepared-send': true,
  screened: true,
  unmined: true,
  'end-read': true,
  'sponsor-call': true,
  'prepared-sponsor-call': true,
  'sponsored-screened': true,
  'intent-signed': true,
  'intent-failed': true,
  'sponsor-update': true,
  'delegation-checked': true,
  undelegate: true,
  'prepared-undelegate': true,
  'undelegation-update': true,
  'deadline-passed': true,
  'job-rested': true,
  'end-recorded': true,
  load: true,
  resume: true,
  'resume-sponsored': true,
  'receipt-valued': true,
  'forget-idempotency': true,
  'approval-ready': true,
  'approval-registered': true,
  'approvals-rested': true,
  'decide-approval': true,
  'withdraw-call': true,
  'approvals-due': true,
}

const OWN_EVENTS: Names<Exclude<Event['type'], AccountEvent['type']>> = {
  'wallet-created': true,
  'key-put': true,
  'idempotency-forgotten': true,
  'lineages-forgotten': true,
  'breakers-counted': true,
  'breaker-tripped': true,
  'payees-read': true,
  reserved: true,
  'reserved-again': true,
  'transaction-signed': true,
  'limit-reached': true,
  'reservation-raised': true,
  'transaction-reopened': true,
  'transaction-ended': true,
  'allowances-recorded': true,
  'credits-changed': true,
  'receipt-asked': true,
  'receipt-valued': true,
  'receipt-forgotten': true,
  'grant-opened': true,
  'grant-closed': true,
  'grant-released': true,
  'grant-sending': true,
  'grant-sent': true,
  'grants-resting': true,
  'sponsored-reserved': true,
  'sponsored-reserved-again': true,
  'sponsored-released': true,
  'sponsored-withdrawn': true,
  'sponsored-waiting': true,
  'sponsored-signing': true,
  'sponsored-handed': true,
  'sponsored-sent': true,
  'sponsored-changed': true,
  'sponsored-answered': true,
  'sponsored-joined': true,
  'sponsored-joined-answered': true,
  'sponsored-recorded': true,
  'sponsored-ended': true,
  'sponsored-moved': true,
  'cancellation-failed': true,
  'sponsored-resting': true,
  'sponsored-expired': true,
  'sponsored-reopened': true,
  'delegation-wanted': true,
  'delegation-led': true,
  'delegation-ended': true,
  'delegation-ending': true,
  'approval-wanted': true,
  'approval-requested': true,
  'approval-registered': true,
  'approval-decided': true,
  'approval-approved': true,
  'approval-bound': true,
  'approval-asked-again': true,
  'approval-ended': true,
  'approval-registering': true,
  'approval-unregistered': true,
  'approvals-resting': true,
  'approval-running': true,
  'approval-rested': true,
  'approvals-wake': true,
}

const OWN_EFFECTS: Names<Exclude<Effect['type'], AccountEffect['type']>> = {
  screen: true,
  sign: true,
  replace: true,
  'key-changed': true,
  trip: true,
  watched: true,
  refused: true,
  'value-receipt': true,
  unvalued: true,
  'screen-sponsored': true,
  'sign-intent': true,
  'submit-job': true,
  'rest-job': true,
  'tell-recorded': true,
  'cancel-intent': true,
  'check-delegation': true,
  'end-delegation': true,
  'await-deadline': true,
  'put-grant': true,
  'rest-grants': true,
  'ready-approval': true,
  'register-approval': true,
  'rest-approvals': true,
  'forget-approval': true,
  'wake-approvals': true,
}

const OF_ACCOUNTS = { ...ACCOUNT_COMMANDS, ...ACCOUNT_EVENTS, ...ACCOUNT_EFFECTS }

describe.each([
  {
    document: 'actors/account/README.md',
    commands: ACCOUNT_COMMANDS,
    told: { ...ACCOUNT_EVENTS, ...ACCOUNT_EFFECTS },
    others: {},
  },
  {
    document: 'actors/sub-wallet/README.md',
    commands: OWN_COMMANDS,
    told: { ...OWN_EVENTS, ...OWN_EFFECTS },
    others: OF_ACCOUNTS,
  },
])('$document', ({ document, commands, told, others }) => {
  const section = readFileSync(document, 'utf8').split('## Commands, events, effects')[1] ?? ''
  const rows = [...section.matchAll(/^\| `([a-z-]+)`\s*\|[^|]*\|([^|]*)\|([^|]*)\|$/gm)]

  test('has a row for each command, and for no other', () => {
    const named = rows.map(([, command = '']) => command)
    for (const command of Object.keys(commands)) expect(named).toContain(command)
    // One of the account's that the sub-wallet judges as well has a row there, too.
    for (const command of named) expect({ ...commands, ...others }).toHaveProperty([command])
  })

  test('names each event and effect, and nothing else as one', () => {
    const everything = [...section.matchAll(/`([a-z]+(?:-[a-z]+)*)`/g)].map(([, name]) => name)
    for (const name of Object.keys(told)) expect(everything).toContain(name)
    for (const [, , events = '', effects = ''] of rows) {
      for (const [, name = ''] of `${events}${effects}`.matchAll(/`([a-z-]+)`/g)) {
        expect({ ...told, ...commands, ...others }).toHaveProperty([name])
      }
    }
  })
})
