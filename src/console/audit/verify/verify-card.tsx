import { useEffect, useRef, useState } from 'preact/hooks'
import { Id } from '../../parts/copy-button.js'
import { Card } from '../../parts/page.js'
import { Table } from '../../parts/table.js'
import { startWorker } from './start-worker.js'
import type { EvidenceFound } from './verify-file.js'
import type { FromWorker } from './worker.js'

/** Verifies, in this browser, the evidence of both keys in a file from the operator. */
export function VerifyCard() {
  const [state, setState] = useState<FromWorker | null>(null)
  const running = useRef<Worker | null>(null)
  const stop = () => {
    running.current?.terminate()
    running.current = null
  }
  useEffect(() => stop, [])

  function verify(file: File): void {
    stop()
    setState({ type: 'progress', step: 'read', count: 0 })
    const worker = startWorker()
    running.current = worker
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      setState(data)
      if (data.type !== 'progress') stop()
    }
    worker.onerror = () => {
      stop()
      setState({ type: 'failed', words: 'The verification did not start. Reload the page.' })
    }
    worker.postMessage(file)
  }

  return (
    <Card title="Verify the evidence">
      <div class="stack">
        <p class="small">
          The entries above tell what happened, but prove nothing by themselves. The proof is the
          evidence that the service and the identity provider keep separately, each a chain of
          hashes. The operator of this instance writes both to a file:
        </p>
        <pre class="unfolded">countersign verify-audit --export evidence.ndjson</pre>
        <label>
          Evidence file
          <input
            type="file"
            accept=".ndjson"
            onChange={({ currentTarget }) => {
              const file = currentTarget.files?.[0]
              if (file !== undefined) verify(file)
            }}
          />
        </label>
        <p role="status">{state?.type === 'progress' && wordsOf(state)}</p>
        {state?.type === 'progress' && (
          <button
            type="button"
            onClick={() => {
              stop()
              setState({ type: 'failed', words: 'Stopped. This file was not verified.' })
            }}
          >
            Stop
          </button>
        )}
        {state?.type === 'failed' && (
          <p class="problem" role="alert">
            {state.words}
          </p>
        )}
        {state?.type === 'done' && <Found of={state.found} />}
        <p class="small mute">
          Verified in this browser, by the code of the command; the file is not sent anywhere. Each
          entry matches its hash, which covers the previous entry. Both P-256 keys approved each
          transaction, byte for byte, and both logs contain it. Its wallet’s certificate is signed
          by both sides and by the wallet’s own secp256k1 key. Its grant exists and was confirmed by
          an approver device of its user, and its policy allowed it.
        </p>
        <p class="small mute">
          Not verified here: that these keys are yours (compare the root below); that a chain was
          not cut at its end (compare its last hash with one that you noted before); what only the
          service knows, such as amounts in USD; and transactions on chain that left no trace in
          either log, for which the command has the options <code>--transactions</code> and{' '}
          <code>--rpc</code>.
        </p>
      </div>
    </Card>
  )
}

function wordsOf({ step, count }: Extract<FromWorker, { type: 'progress' }>): string {
  const words = count.toLocaleString()
  return step === 'read' ? `Read ${words} entries…` : `Verified the signatures of ${words} batches…`
}

function Found({ of: found }: { readonly of: EvidenceFound }) {
  const { entries, chains, problems, problemsInAll, registry } = found
  const counts = [
    [found.approvals, 'approvals by both keys'],
    [found.approvedByPeople, 'by people'],
    [found.wallets, 'wallets'],
    [found.grantVersions, 'grant versions'],
    [found.authorizerChanges, 'authorizer changes'],
    [found.lostAnswers, 'lost answers'],
  ] as const
  return (
    <>
      {problems.length === 0 ? (
        <p class="good" role="status">
          All {entries.toLocaleString()} entries match their hashes, every signature verifies, and
          both logs agree.
        </p>
      ) : (
        <div class="problem" role="alert">
          {problems.map((problem) => (
            <p key={problem}>{problem}</p>
          ))}
          {problemsInAll > problems.length && (
            <p>These are the first of {problemsInAll.toLocaleString()} problems.</p>
          )}
        </div>
      )}
      <p class="small">
        {counts.map(([count, words]) => `${count.toLocaleString()} ${words}`).join(', ')}.
      </p>
      <p class="small">
        Keys by version {registry.version} of the {registry.environment} registry. SHA-256 of its
        root: <Id value={registry.root} label="Copy the hash of the root" />, to compare with what{' '}
        <code>openssl pkey -pubin -in root.pub.pem -outform DER | sha256sum</code> says of yours.
      </p>
      <Table
        caption="Chains of the file"
        rows={chains}
        keyOf={({ log, chain }) => `${log} ${chain}`}
        columns={[
          { title: 'Log', cell: ({ log }) => log },
          { title: 'Chain', cell: ({ chain }) => String(chain) },
          { title: 'Entries', cell: (one) => one.entries.toLocaleString(), align: 'end' },
          {
            title: 'Last hash',
            cell: ({ head }) => <Id value={head} label="Copy the last hash" />,
          },
        ]}
      />
    </>
  )
}
