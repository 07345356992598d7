import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.js'
import { Problem } from '../parts/states.js'
import {
  EXPORT_ENTRIES_MAX,
  type Exported,
  type ExportFormat,
  exportAudit,
} from './export-audit.js'
import { type AuditFilter, readAuditPage } from './use-audit.js'

/** The largest page that one answer returns. */
const PAGE_ROWS = 100

/** Exports the filtered list as a file. */
export function ExportButton({ filter }: { readonly filter: AuditFilter }) {
  const [isOpen, open] = useState(false)
  return (
    <>
      <button type="button" onClick={() => open(true)}>
        Export
      </button>
      {isOpen && <ExportDialog filter={filter} onClose={() => open(false)} />}
    </>
  )
}

type State =
  | { readonly step: 'asking' }
  | { readonly step: 'reading'; readonly entries: number }
  | { readonly step: 'done'; readonly exported: Exported }
  | { readonly step: 'failed'; readonly error: unknown }

function ExportDialog(shown: { readonly filter: AuditFilter; readonly onClose: () => void }) {
  const [state, setState] = useState<State>({ step: 'asking' })
  const closing = useRef(new AbortController())
  useEffect(() => () => closing.current.abort(), [])

  async function run(format: ExportFormat): Promise<void> {
    const { signal } = closing.current
    const readPage = (cursor: string | null) => readAuditPage(shown.filter, cursor, PAGE_ROWS)
    const onProgress = (entries: number) => setState({ step: 'reading', entries })
    try {
      onProgress(0)
      const exported = await exportAudit(readPage, format, onProgress, signal)
      save(exported.file, `countersign-audit-${new Date().toISOString().slice(0, 10)}.${format}`)
      setState({ step: 'done', exported })
    } catch (error) {
      if (!signal.aborted) setState({ step: 'failed', error })
    }
  }

  return (
    <Dialog title="Export the audit trail" onClose={shown.onClose}>
      <p>
        The filtered entries of this page, newest first, at most{' '}
        {EXPORT_ENTRIES_MAX.toLocaleString()} of them.
      </p>
      <p role="status">{wordsOf(state)}</p>
      {state.step === 'failed' && <Problem error={state.error} />}
      <div class="actions end">
        <button type="button" onClick={shown.onClose}>
          {state.step === 'done' ? 'Close' : 'Cancel'}
        </button>
        {(['csv', 'json'] as const).map((format) => (
          <button
            key={format}
            type="button"
            class={format === 'csv' ? 'primary' : undefined}
            disabled={state.step === 'reading'}
            onClick={() => void run(format)}
          >
            {format.toUpperCase()}
          </button>
        ))}
      </div>
    </Dialog>
  )
}

function wordsOf(state: State): string {
  if (state.step === 'reading') return `Reading: ${state.entries.toLocaleString()} entries…`
  if (state.step !== 'done') return ''
  const { entries, isWhole } = state.exported
  const words = `${entries.toLocaleString()} entries are in the file.`
  return isWhole ? words : `${words} There are older ones; narrow the list to reach them.`
}

/** Time for the browser to copy the file before its address is released. */
const KEPT_MS = 60_000

function save(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS)
}
