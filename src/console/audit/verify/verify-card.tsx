import { useEffect, useRef, useState } from 'preact/hooks'
import { Id } from '../../parts/copy-button.js'
import { Card } from '../../parts/page.js'
import { Table } from '../../parts/table.js'
import type { EvidenceFound } from './chain-check.js'
import { startWorker } from './start-worker.js'
import type { FromWorker } from './worker.js'

/** Verification of the evidence of both keys, in this browser, over a file that the operator has. */
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
    setState({ type: 'progress', entries: 0 })
    const worker = startWorker()
    running.current = worker
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      setState(data)
      if (data.type !== 'progress') stop()
    }
    worker.onerror = () => {
      stop()
      setState({ type: 'failed', words: 'The verification did not start. Load the page anew.' })
    }
    worker.postMessage(file)
  }

  return (
    <Card title="Verify the evidence">
      <div class="stack">
        <p class="small">
          The entries above tell what happened, and prove nothing by themselves. What proves is the
          evidence that the service and the identity provider keep apart, each a chain of hashes.
          Whoever operates this instance writes both to a file:
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
        <p role="status">
          {state?.type === 'progress' && `Verified ${state.entries.toLocaleString()} entries…`}
        </p>
        {state?.type === 'failed' && (
          <p class="problem" role="alert">
            {state.words}
          </p>
        )}
        {state?.type === 'done' && <Found of={state.found} />}
        <p class="small mute">
          Verified here, in this browser: that each entry matches its hash, which covers the entry
          before; the file is sent nowhere. An entry that was changed, left out or put in between is
          found, unless every hash after it was made anew. Not verified here: that a chain was not
          written anew or cut at its end, for which compare its last hash with one noted before;
          that both logs agree; and the signatures in them. Those two the command verifies, which
          knows the keys of both sides.
        </p>
      </div>
    </Card>
  )
}

function Found({ of: { entries, chains, problems } }: { readonly of: EvidenceFound }) {
  return (
    <>
      {problems.length === 0 ? (
        <p class="good" role="status">
          All {entries.toLocaleString()} entries match their hashes.
        </p>
      ) : (
        <div class="problem" role="alert">
          {problems.map((problem) => (
            <p key={problem}>{problem}</p>
          ))}
        </div>
      )}
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
