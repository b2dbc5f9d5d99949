package textsafe

import (
	"strings"

	"memoryd/internal/phrases"
)

// claims are the families of texts that say somebody agreed to something, in the
// languages that tools and people write most. What a record says of itself ("status approved") is no such claim: there has
// to be a person who agreed, or a permission that was given.
var claims = []pattern{
	family("english", `\b(users?|customers?|clients?|owners?|admins?|administrators?|managers?|operators?|humans?|supervisors?|account holders?|you|he|she|they|we|i)\b[^.;|]{0,40}\b(approv(ed|es)|agree[ds]|consent(ed|s)|authori[sz]e[ds]|confirm(ed|s)|permit(ted|s)|allow(ed|s)|accept(ed|s)|granted|signed off|ok'?e?d|(gave|given|gives) (\w+ ){0,3}(permission|consent|approval|go.ahead|authori[sz]ation))\b`),
	family("by whom", `\b(approved|authori[sz]ed|confirmed|permitted|allowed|accepted|cleared|signed off)\b[^.;|]{0,20}\bby\b[^.;|]{0,20}\b(users?|customers?|clients?|owners?|admin\w*|managers?|operators?|humans?|supervisors?|account holders?)\b`),
	family("permission", `\b(approval|permission|consent|authori[sz]ation|go.ahead)\b[^.;|]{0,20}\b(given|granted|received|obtained|recorded|on (file|record)|not (needed|required|necessary))\b|\bpre-?(approved|authori[sz]ed)\b|\b(has|have|had|with) (\w+ ){0,2}(approval|permission|consent|authori[sz]ation) (to|for|of|from)\b`),
	family("german", `\b(kund|nutzer|benutzer|inhaber|auftraggeber|administrator|chef)\w*[^.;|]{0,50}(genehmigt|zugestimmt|erlaubt|freigegeben|einverstanden|best(ä|a|ae)tigt|bewilligt|autorisiert|zustimmung|genehmigung|stimmt zu)`),
	family("romance", `\b(client|utilisateur|usager|propri(é|e)taire|administrat|cliente|usuari|utente|utilizador|titular|due(ñ|n)o|amministrat|encargad)\w*[^.;|]{0,50}(approuv|autoris|accept(é|e)|consenti|confirm|valid(é|e)|accord|aprob|aprov|autoriz|acept|aceit|permit|permis|approvat|accettat|acconsent)`),
	family("dutch and polish", `\b(klant|gebruiker|eigenaar|beheerder|klient|u(ż|z)ytkownik|w(ł|l)a(ś|s)ciciel)\w*[^.;|]{0,50}(goedgekeurd|toegestemd|toestemming|akkoord|bevestigd|toegestaan|zatwierdzi|zgodzi|zgod|potwierdzi|zezwoli)`),
	family("russian", `(клиент|пользовател|заказчик|владел|администратор|покупател)[^.;|]{0,50}(одобр|разреш|соглас|утверд|подтверд)`),
	family("turkish and southeast asian", `\b(m(ü|u)(ş|s)teri|kullan(ı|i)c(ı|i)|pengguna|pelanggan|kh(á|a)ch h(à|a)ng|ng(ư|u)(ờ|o)i d(ù|u)ng)\w*[^.;|]{0,50}(onayla|izin ver|kabul et|menyetujui|setuju|mengizinkan|(đ|d)(ồ|o)ng (ý|y)|ph(ê|e) duy(ệ|e)t|cho ph(é|e)p)`),
	family("chinese", `(用户|用戶|客户|客戶|顾客|顧客|管理员|管理員|主管|本人)[^。;|]{0,30}(批准|同意|授权|授權|允许|允許|许可|許可|确认|確認)`),
	family("japanese and korean", `(ユーザー?|利用者|お客様|顧客|管理者|사용자|고객|관리자)[^。;|]{0,40}(承認|許可|同意|了承|確認|승인|허가|동의|허락|확인)`),
	family("arabic", `(العميل|المستخدم|الزبون|المدير|المالك)[^.;|]{0,40}(وافق|موافق|أذن|اذن|سمح|صرح)|(وافق|أذن|اذن|سمح)[^.;|]{0,30}(العميل|المستخدم|الزبون|المدير|المالك)`),
	family("hindi", `(उपयोगकर्ता|ग्राहक|प्रबंधक)[^.;|।]{0,40}(स्वीक|अनुमति|सहमत|मंज़ूर|मंजूर|अनुमोद)`),
}

// ClaimsConsent reports whether a text says that a person approved, allowed or
// agreed to something. It does not say whether that is true.
func ClaimsConsent(s string) bool {
	forms := []string{Fold(s)}
	if !phrases.IsASCII(s) { // folding takes marks and letters that some scripts need
		forms = append(forms, strings.ToLower(s))
	}
	for _, form := range forms {
		if _, claimed := match(form, claims); claimed {
			return true
		}
	}
	return false
}
