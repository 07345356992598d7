import type { DataKeys } from '../custody/domain-keys/data-keys.js'

/** Seals short secrets of the service's store, such as webhook secrets, under its data key. */
export interface SealedText {
  /**
   * @param context the purpose, required again to open it
   * @returns base64
   */
  seal(text: string, context: string): string
  /** @throws Error when it was sealed under other keys or for another purpose */
  open(sealed: string, context: string): string
}

const CONTEXT = 'countersign/sealed-text/v1\0'

export function createSealedText(dataKeys: DataKeys): SealedText {
  const associated = (context: string) => Buffer.from(CONTEXT + context)
  return {
    seal: (text, context) =>
      dataKeys.seal(Buffer.from(text), associated(context)).toString('base64'),
    open(sealed, context) {
      const plain = dataKeys.open(Buffer.from(sealed, 'base64'), associated(context))
      const text = plain.toString()
      plain.fill(0)
      return text
    },
  }
}
