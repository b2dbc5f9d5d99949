package rules

import (
	"strings"
	"unicode/utf8"

	"memoryd/internal/phrases"
)

// abroad are the words by which a sentence says, in the languages that programs speak
// most beside English, that something could not be done, is not there or is not valid.
var abroad = []string{
	"konnte nicht", "konnten nicht", "kann nicht", "nicht gefunden", "fehlgeschlagen", "gescheitert", "existiert nicht", "nicht möglich", "nicht zulässig",
	"nicht erlaubt", "ist ungültig", "ungültige", "zugriff verweigert", "fehler aufgetreten", "fehler:", "fehler beim",
	"n'existe pas", "introuvable", "impossible de", "a échoué", "échec de", "n'a pas pu", "ne peut pas", "n'est pas valide", "est invalide", "accès refusé",
	"n'est pas autorisé", "erreur s'est produite", "erreur :", "erreur:",
	"no se pudo", "no se puede", "no se ha podido", "no existe", "no se encontr", "no es válid", "ha fallado", "acceso denegado", "se produjo un error", "no está permitid",
	"não foi possível", "não existe", "não encontrad", "não é possível", "não é permitid", "não pode", "inválid", "falhou", "acesso negado", "ocorreu um erro",
	"non è stato possibile", "impossibile ", "non esiste", "non trovat", "non è valid", "non riuscit", "accesso negato", "verificato un errore", //nolint:misspell // Italian
	"kan niet", "kon niet", "kan bestand", "niet gevonden", "mislukt", "bestaat niet", "ongeldig", "toegang geweigerd", "fout opgetreden", "fout:",
	"gick inte", "kunde inte", "hittades inte", "misslyckades", "finns inte", "ogiltig", "kunne ikke", "findes ikke", "finnes ikke", "mislykkedes", "mislyktes", "ugyldig",
	"nie można", "nie udało", "nie znaleziono", "nie istnieje", "nieprawidłow", "odmowa dostępu", "wystąpił błąd", "błąd:",
	"не удалось", "не найден", "не существует", "невозможно", "доступ запрещ", "недопустим", "неверн", "ошибка:", "произошла ошибка",
	"başarısız", "bulunamadı", "geçersiz", "hata oluştu", "mevcut değil", "yapılamadı", "hata:",
	"失败", "失敗", "错误", "錯誤", "异常", "異常", "不存在", "无法", "無法", "无效", "未找到", "找不到", "拒绝", "不支持", "没有权限",
	"エラー", "できません", "見つかりません", "存在しません", "無効", "権限がありません",
	"nebyl nalezen", "nebyla nalezena", "nebylo nalezeno", "nelze ", "neexistuje", "neplatn", "chyba:", "selhal", "nezdařil",
	"hiba történt", "nem található", "nem létezik", "érvénytelen", "sikertelen", "nem sikerült",
	"помилка:", "не вдалося", "не знайдено", "не існує", "eroare:", "nu a fost găsit", "nu există", "nu se poate",
	"virhe:", "ei löydy", "ei löytynyt", "epäonnistui", "ei voitu", "σφάλμα", "δεν βρέθηκε", "αποτυχία",
	"خطأ", "غير موجود", "فشل", "غير صالح", "تعذر", "שגיאה", "לא נמצא", "נכשל", "त्रुटि", "विफल", "नहीं मिला",
	"lỗi:", "không tìm thấy", "không thể", "không hợp lệ", "không tồn tại", "thất bại", "gagal", "tidak ditemukan", "tidak dapat", "tidak valid", "terjadi kesalahan",
	"ข้อผิดพลาด", "ไม่พบ", "ล้มเหลว",
	"오류", "실패", "할 수 없", "찾을 수 없", "존재하지 않", "잘못된", "권한이 없",
}

// plainAbroad are those in plain letters, which lineIndex looks for; the others can only
// stand in a line that has others.
var plainAbroad, accentedAbroad = func() (plain, accented []string) {
	for _, p := range abroad {
		if strings.IndexFunc(p, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
			plain = append(plain, p)
		} else {
			accented = append(accented, p)
		}
	}
	return plain, accented
}()

// complainsAbroad reports whether a line has one of them.
func (l *line) complainsAbroad() bool {
	return l.has(hasAbroad) || strings.IndexFunc(l.s, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 && phrases.ContainsAny(l.low(), accentedAbroad)
}

// relievedAbroad say, in the same languages, that there was no error.
var relievedAbroad = []string{
	"kein fehler", "keine fehler", "ohne fehler", "0 fehler", "aucune erreur", "sans erreur", "sin errores", "ningún error", "nenhum erro", "sem erro", "nessun errore",
	"senza errori", "geen fout", "zonder fout", "inga fel", "utan fel", "ingen fejl", "ingen feil", "brak błęd", "bez błęd", "нет ошибок", "без ошибок", "hata yok",
	"bez chyb", "nincs hiba", "без помилок", "fără erori", "ei virheitä", "بدون أخطاء", "لا توجد أخطاء", "không có lỗi", "tidak ada kesalahan", "没有错误", "无错误", "無錯誤", "没有异常", "无异常", "エラーなし", "エラーはありません", "오류 없", "오류가 없",
}

// denialAbroad are the words by which the same languages deny and demand anything at all.
var denialAbroad = []string{
	" nicht ", " kein ", " keine ", " keinen ", " keiner ", " muss ", " müssen ", " erforderlich", " bereits ", " darf ", " dürfen ",
	" aucun", " n'est ", " n'a ", " n'ont ", " ne peut", " ne correspond", " ne peuvent", " doit ", " doivent ", " devez ", " il faut ", " obligatoire", " requis", " déjà ", " veuillez ",
	" no está", " no es ", " no hay ", " no tiene", " no ha ", " no puede", " ningún ", " ninguna ", " debe ", " deben ", " obligatori", " requerid", " falta ", " ya ", " debes ", " hay que ",
	" não ", " nenhum", " deve ", " devem ", " obrigatóri", " já ", " non è ", " non può ", " non ha ", " non ci ", " non si ", " non sono ", " nessun", " devono ", " richiest", " già ",
	" niet ", " geen ", " moet ", " moeten ", " verplicht", " vereist", " inte ", " måste ", " krävs", " ikke ", " ingen ", " skal ", " må ", " kræves", " påkrævet",
	" nie ", " brak ", " musi ", " wymagan", " již ", " není ", " musí ", " nem ", " nincs", " kell ", " kötelező", " ei ", " pakollinen",
	" не ", " нет ", " должн", " требуется", " обязател", " уже ", " немає ", " має ", " değil", " yok", " gerekli", " zorunlu", " nu ", " trebuie ",
	" không ", " phải ", " tidak ", " harus ", " wajib ", " sudah ",
	" nur noch ", " nur für ", " erst nach ", " erst wenn ", "mindestens", "höchstens", " est complet", " ne reste ", " seulement ", " solo quedan", " solo para ", " apenas ", " solo se ", " soltanto ", " alleen ", " tylko ", " только ", " лишь ", "минимальн", "максимальн", "満", "仅", "僅", "のみ", " sólo ",
	" leider ", "ausverkauft", " fermé", "insuficiente", "insuffisant", "insufficiente", " cerrad", " gesloten", "geschlossen",
	"incorret", "incorrecto", "incorrecta", "errón", "erroné", " falsch", " fehlt", " fehlen", " manquant", " ausente", "vencid", "caducad", "abgelaufen", " gesperrt", "expiré", "expirad", "bloquead", "bloqué",
	"不", "未", "没", "沒", "必须", "必須", "请", "請", "ません", "ない", "ください", "不正", "않", "없", "못", "필수", "하세요", "해야", "이미",
	" لا ", " لم ", " غير ", " يجب ", "नहीं", "ไม่", " לא ", " δεν ", " πρέπει ",
}

// doneAbroad say that it was done.
var doneAbroad = []string{
	"erfolgreich", "réussi", "succès", "éxito", "exitosa", "correctamente", "sucesso", "successo", "geslaagd", "succesvol", "lyckades", "sukces", "pomyślnie", "успешно", "başarı",
	"成功", "完成", "已发送", "しました", "完了", "성공", "되었습니다", "úspěšně", "sikeresen", "onnistui", "thành công", "berhasil", "نجاح",
}

// deniesAbroad reports whether the only sentence of a tool that does something denies or
// demands, in another language than English.
func (v *view) deniesAbroad(t *text) bool {
	if t.total > 2 || len(t.full) > 240 || v.ask.reads || v.ask.command != "" || phrases.HasAny(v.ask.names, tellers) || phrases.HasAny(v.ask.names, inspectors) {
		return false
	}
	said, _ := firstSentence(t.first().low())
	said = " " + said + " "
	spanish := strings.HasPrefix(said, " no ") && phrases.ContainsAny(said, []string{" en ", " el ", " la ", " de ", " del ", " los ", " las ", " para ", " se ", " que "})
	return (spanish || phrases.ContainsAny(said, denialAbroad)) && !phrases.ContainsAny(said, doneAbroad) && !phrases.ContainsAny(said, relievedAbroad)
}

// complaintAbroad: the first line of a short answer complains in another language than
// English. Of a tool that reads, it may be what was read.
func complaintAbroad(v *view, t *text) (finding, bool) {
	if !t.short(3, 400) || v.ask.command != "" && v.ask.reads {
		return finding{}, false
	}
	first := t.first()
	if !first.complainsAbroad() && v.deniesAbroad(t) {
		return fails("unmet-condition", first.s, "it says in another language what did not fit").unsure(), true
	}
	if !first.complainsAbroad() || phrases.ContainsAny(first.low(), relievedAbroad) || v.echoes(first.s) {
		return finding{}, false
	}
	if (v.ask.reads || v.tells()) && !t.reply {
		return half("error-sentence", first.s, "a short answer that may be a complaint"), true
	}
	return fails("error-sentence", first.s, "a short answer that complains").unsure(), true
}

// instructions open a sentence that tells the caller what comes first or who may, or an
// apology.
var instructions = []string{"we're sorry", "we are sorry", "sorry, ", "unfortunately", "we regret ", "you need to ", "you must ", "you have to ", "you are not ", "you're not ", "you do not have ", "you don't have "}

// instructs reports whether the only line of an answer tells the caller what had to be
// otherwise.
func instructs(t *text) bool {
	low := t.first().low()
	if !t.short(1, 240) {
		return false
	}
	return phrases.StartsAny(low, instructions) ||
		strings.HasPrefix(low, "only ") && phrases.ContainsAny(low, []string{" allowed", " permitted", " supported", " accepted"})
}
