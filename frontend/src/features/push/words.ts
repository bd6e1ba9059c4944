import en from "../../i18n/en/push.json";
import { wordsOf } from "../../i18n/words.svelte";

export const { t } = wordsOf("push", en);

/** spokenByWorker are the words that the service worker says without the page. */
export const spokenByWorker = (): Record<string, string> => ({
  news: t("news"),
  approval: t("news.approval"),
  answer: t("news.answer"),
  reminder: t("news.reminder"),
  failure: t("news.failure"),
  test: t("news.test"),
  open: t("news.open"),
  look: t("news.look"),
});
