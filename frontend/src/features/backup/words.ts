import en from "../../i18n/en/backup.json";
import { wordsOf } from "../../i18n/words.svelte";

export const { t } = wordsOf("backup", en);
