/** Where who came by keyboard goes on from when what had the focus is gone. */
export const toMain = (): void => document.getElementById("main")?.focus({ preventScroll: true })
