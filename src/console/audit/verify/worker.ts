import { type EvidenceFound, type Progress, verifyEvidenceFile } from './verify-file.js'

/** Verifies outside the page's thread, so that the page responds while a large file is read. */

export type FromWorker =
  | ({ readonly type: 'progress' } & Progress)
  | { readonly type: 'done'; readonly found: EvidenceFound }
  | { readonly type: 'failed'; readonly words: string }

const say = (message: FromWorker) => self.postMessage(message)

self.onmessage = async ({ data }: MessageEvent<File>) => {
  try {
    const found = await verifyEvidenceFile(piecesOf(data), (progress) =>
      say({ type: 'progress', ...progress }),
    )
    say({ type: 'done', found })
  } catch (error) {
    say({ type: 'failed', words: error instanceof Error ? error.message : String(error) })
  }
}

async function* piecesOf(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}
