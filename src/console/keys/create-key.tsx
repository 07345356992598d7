import { useRef, useState } from 'preact/hooks'
import { call, type Input } from '../api.js'
import { CapField } from '../parts/cap-field.js'
import { CHAIN_IDS, chainName } from '../parts/chain-names.js'
import { AskedToConfirm, type LeftAuthorization, useConfirmed } from '../parts/confirmed-action.js'
import { newCreationKey } from '../parts/creation-key.js'
import { Dialog } from '../parts/dialog.js'
import { makeOnce } from '../parts/make-once.js'
import { Answered, Problem } from '../parts/states.js'
import { submissionsOf } from '../parts/submissions.js'
import { UNANSWERED } from '../parts/unanswered.js'
import { useWallets } from '../queries.js'
import { makeWallet, type WalletSubmission } from '../wallets/make-wallet.js'
import { POLICY_TEMPLATES } from './policy-templates.js'
import { SecretShown } from './secret-shown.js'

/** Creates a key for an agent: its permission, caps, chains and policy. */
export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const wallets = useWallets()
  const [made, setMade] = useState<Made | null>(null)
  if (made !== null) {
    const { secret, status } = made
    return (
      <Dialog title="The new key" onClose={onClose}>
        {secret === null ? (
          <p>{status === 'active' ? SECRET_LOST : ENDED_SINCE}</p>
        ) : (
          <SecretShown secret={secret} />
        )}
        <div class="actions end">
          <button type="button" class="primary" onClick={onClose}>
            {secret === null ? 'Close' : 'I have copied it'}
          </button>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title="New key for an agent" onClose={onClose}>
      <Answered query={wallets} what="wallets">
        {({ wallets }) => <CreateForm wallets={wallets} onMade={setMade} onClose={onClose} />}
      </Answered>
    </Dialog>
  )
}

interface Made {
  /** Null if the answer that contained it was lost. */
  readonly secret: string | null
  readonly status: string
}

const ENDED_SINCE =
  'This key was created earlier, but the answer was lost, and the key has been revoked or rotated since. Create it again to get a new one.'
const SECRET_LOST =
  'The key was created, but the answer with its secret was lost. Rotate the key to get a new secret, or revoke it.'

type Submission = Omit<Input<'POST', '/api/v1/agent/keys'>, 'authorization'> & {
  /** Name of a wallet to create first; null if `sub_wallet_id` names an existing one. */
  readonly newWalletName: string | null
}

const NAME_LENGTH_MAX = 64
const USD_PATTERN = '[0-9]{1,12}([.][0-9]{1,6})?'

function CreateForm(shown: {
  readonly wallets: readonly { readonly sub_wallet_id: string; readonly name: string }[]
  readonly onMade: (made: Made) => void
  readonly onClose: () => void
}) {
  const { wallets, onMade, onClose } = shown
  const [templateId, setTemplateId] = useState('caps')
  const template = POLICY_TEMPLATES.find(({ id }) => id === templateId)
  const walletOf = useRef(walletMaker())
  const submissions = useRef(submissionsOf<Submission>(newCreationKey, UNANSWERED))
  const confirmed = useConfirmed(createKey, onMade)

  function createKey(submission: Submission, authorization: LeftAuthorization | null) {
    return makeOnce(
      submissions.current,
      submission,
      async ({ newWalletName, ...key }, idempotencyKey) => {
        const wanted = {
          ...key,
          ...(newWalletName === null
            ? {}
            : { sub_wallet_id: await walletOf.current(newWalletName) }),
          ...(authorization === null ? {} : { authorization }),
        }
        return call('POST', '/api/v1/agent/keys', wanted, { 'Idempotency-Key': idempotencyKey })
      },
    )
  }

  function submissionOf(form: FormData): Submission {
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const walletId = text('wallet')
    return {
      name: text('name'),
      sub_wallet_id: walletId,
      newWalletName: walletId === '' ? text('name') : null,
      permission: text('permission') === 'read' ? 'read' : 'trade',
      daily_limit_usd: text('daily') === '' ? 'unlimited' : text('daily'),
      monthly_limit_usd: text('monthly') === '' ? 'unlimited' : text('monthly'),
      allowed_chains: form.getAll('chain').map(Number),
      policy: template?.policyOf(text('filled')) ?? null,
    }
  }

  return (
    <>
      {confirmed.asked !== null && <AskedToConfirm asked={confirmed.asked} />}
      {/* The form stays in the page: a retry finds what was typed. */}
      <form
        hidden={confirmed.asked !== null}
        onSubmit={(event) => {
          event.preventDefault()
          confirmed.run(submissionOf(new FormData(event.currentTarget)))
        }}
      >
        <label>
          Name of the agent
          <input name="name" required maxLength={NAME_LENGTH_MAX} placeholder="Research agent" />
        </label>
        <label>
          Wallet
          <select name="wallet">
            {wallets.map(({ sub_wallet_id, name }) => (
              <option key={sub_wallet_id} value={sub_wallet_id}>
                {name}
              </option>
            ))}
            <option value="">A new wallet</option>
          </select>
        </label>
        <fieldset>
          <legend>May</legend>
          <div class="choices">
            <label class="choice">
              <input type="radio" name="permission" value="trade" defaultChecked />
              <span>Send, swap and deposit</span>
            </label>
            <label class="choice">
              <input type="radio" name="permission" value="read" />
              <span>Only read</span>
            </label>
          </div>
        </fieldset>
        <div class="pair">
          <CapField label="Daily cap, USD" name="daily" initial="100" />
          <CapField label="Monthly cap, USD" name="monthly" initial="1000" />
        </div>
        <fieldset>
          <legend>On</legend>
          <div class="choices">
            {CHAIN_IDS.map((id) => (
              <label key={id} class="choice">
                <input type="checkbox" name="chain" value={id} defaultChecked />
                <span>{chainName(id)}</span>
              </label>
            ))}
          </div>
        </fieldset>
        <label>
          Policy
          <select
            name="template"
            value={templateId}
            onChange={(event) => setTemplateId(event.currentTarget.value)}
          >
            {POLICY_TEMPLATES.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <p class="small mute">{template?.words}</p>
        {template?.field === 'amount' && (
          <label>
            Above, USD
            <input name="filled" required inputMode="decimal" pattern={USD_PATTERN} />
          </label>
        )}
        {template?.field === 'addresses' && (
          <label>
            Addresses, one per line
            <textarea name="filled" required rows={4} spellcheck={false} />
          </label>
        )}
        {confirmed.error !== null && <Problem error={confirmed.error} />}
        <div class="actions end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={confirmed.isRunning}>
            {confirmed.isRunning ? 'Making it…' : 'Make the key'}
          </button>
        </div>
      </form>
    </>
  )
}

/**
 * Creates the wallet of a request, or finds it created, because a request may be repeated or
 * changed.
 */
function walletMaker(): (name: string) => Promise<string> {
  const made = new Map<string, Promise<string>>()
  const submissions = submissionsOf<WalletSubmission>(newCreationKey, UNANSWERED)
  return (name) => {
    const id =
      made.get(name) ??
      makeOnce(submissions, { wallet: name }, makeWallet).then(({ sub_wallet_id }) => sub_wallet_id)
    made.set(name, id)
    // A failed creation is not kept.
    id.catch(() => made.delete(name))
    return id
  }
}
