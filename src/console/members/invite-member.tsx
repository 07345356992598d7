import { useState } from 'preact/hooks'
import { call, type Output } from '../api.js'
import { AskedToConfirm, type LeftAuthorization, useConfirmed } from '../parts/confirmed-action.js'
import { CopyButton } from '../parts/copy-button.js'
import { Dialog } from '../parts/dialog.js'
import { Problem } from '../parts/states.js'
import { Left } from '../parts/times.js'
import { ROLES, type Role } from './roles.js'

type Invited = Output<'POST', '/api/v1/agent/members'>

interface Submission {
  readonly email: string
  readonly role: Role
}

const EMAIL_LENGTH_MAX = 254

/** Asks for the person and the role, then for the owner's passkey; then shows the link to send. */
export function InviteMember() {
  const [isOpen, open] = useState(false)
  const [invited, setInvited] = useState<Invited | null>(null)
  return (
    <>
      <button type="button" class="primary" onClick={() => open(true)}>
        Invite a person
      </button>
      {isOpen && (
        <InviteDialog
          onClose={() => open(false)}
          onInvited={(answer) => {
            open(false)
            setInvited(answer)
          }}
        />
      )}
      {invited !== null && <InvitedDialog invited={invited} onClose={() => setInvited(null)} />}
    </>
  )
}

function InviteDialog(shown: {
  readonly onClose: () => void
  readonly onInvited: (answer: Invited) => void
}) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const confirmed = useConfirmed(
    (submission: Submission, authorization: LeftAuthorization | null) =>
      call('POST', '/api/v1/agent/members', {
        ...submission,
        ...(authorization === null ? {} : { authorization }),
      }),
    shown.onInvited,
  )
  return (
    <Dialog title="Invite a person" onClose={shown.onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          confirmed.run({ email: email.trim(), role })
        }}
      >
        <label>
          E-mail by which they sign in
          <input
            name="email"
            type="email"
            required
            maxLength={EMAIL_LENGTH_MAX}
            autocomplete="off"
            value={email}
            onInput={({ currentTarget }) => setEmail(currentTarget.value)}
          />
        </label>
        <RoleField role={role} onChange={setRole} />
        {confirmed.error !== null && <Problem error={confirmed.error} />}
        {confirmed.asked !== null && <AskedToConfirm asked={confirmed.asked} />}
        <div class="actions end">
          <button type="button" onClick={shown.onClose}>
            Cancel
          </button>
          {confirmed.asked === null && (
            <button type="submit" class="primary" disabled={confirmed.isRunning}>
              {confirmed.isRunning ? 'Working…' : 'Invite'}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

export function RoleField(shown: { readonly role: Role; readonly onChange: (role: Role) => void }) {
  return (
    <label>
      Role
      <select
        name="role"
        value={shown.role}
        onChange={({ currentTarget }) => {
          const found = ROLES.find(({ role }) => role === currentTarget.value)
          if (found !== undefined) shown.onChange(found.role)
        }}
      >
        {ROLES.map(({ role, may }) => (
          <option key={role} value={role}>
            {role}: {may}
          </option>
        ))}
      </select>
    </label>
  )
}

function InvitedDialog(shown: { readonly invited: Invited; readonly onClose: () => void }) {
  const { email, role, accept_before, invitation_path, mailed } = shown.invited
  const link = `${location.origin}${invitation_path}`
  return (
    <Dialog title="Invited" onClose={shown.onClose}>
      <p>
        <bdi>{email}</bdi> may join as {role}; <Left until={accept_before} /> left. They sign in at
        this link and accept with their own passkey.{' '}
        {mailed ? 'They have been notified by email.' : 'Send them this link.'}
      </p>
      <p>
        <code>{link}</code> <CopyButton text={link} label="Copy the link" />
      </p>
      <div class="actions end">
        <button type="button" class="primary" onClick={shown.onClose}>
          Done
        </button>
      </div>
    </Dialog>
  )
}
